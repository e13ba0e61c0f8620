"""The server: Streamlit, the routes beside it, and access control."""
