"""The only part that knows Streamlit."""
