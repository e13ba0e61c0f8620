"""The server: Streamlit, the routes beside it, and whom they answer."""
