"""The front page, and the app that the server serves."""

import streamlit as st

if __name__ == "__main__":
    # Streamlit runs this file as the page.
    from attention.app import app
    from attention.page.pages import FRONT

    app.show(FRONT)
else:
    # The server imports this file, however it is started.
    from attention.app.process import prepare

    prepare()
    from attention.app import server

    app = st.App(__file__, lifespan=server.lifespan, middleware=server.middleware(__file__))
