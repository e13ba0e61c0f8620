"""The pages' content: each page is a function from a view, and the runs for it, to blocks.

``attention.answer.page_component`` draws the blocks, ``attention.page.page_file`` writes them.
"""
