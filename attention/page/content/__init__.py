"""What the pages show, as blocks: each page is a function from a view, and the runs for it, to data.

Nothing here knows Streamlit or HTML: ``attention.answer.page_component`` draws the blocks, ``attention.page.page_file``
writes them.
"""
