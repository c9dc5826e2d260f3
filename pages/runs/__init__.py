"""Parts of the page Training."""
