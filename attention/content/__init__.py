"""What the pages show, as blocks: each page is a function from a view, and what was run for it, to data.

Nothing here knows Streamlit or HTML: ``attention.ui.drawing`` draws blocks, ``attention.page_file`` writes them.
"""
