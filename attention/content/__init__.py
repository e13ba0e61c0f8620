"""What the pages show, as blocks: each page is a function from a view, and the runs for it, to data.

Nothing here knows Streamlit or HTML: ``attention.ui.sheet`` draws the blocks, ``attention.page_file`` writes them.
"""
