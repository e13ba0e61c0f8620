"""The front door: what this is, a live first heatmap, and the way in; and the app that the server serves."""

import streamlit as st

if __name__ == "__main__":
    # Streamlit runs this file as the page.
    from attention.ui import front, state

    front.show()
    state.close_page()
else:
    # The server imports it, whichever way it was started, for what stands around the pages.
    from attention.ui import server

    app = st.App(__file__, lifespan=server.lifespan, middleware=server.middleware(__file__))
