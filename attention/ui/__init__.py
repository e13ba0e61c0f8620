"""The only part of the project that knows Streamlit."""
