"""What pages share: colours, figures (pure), the head grid, the sidebar, and what is kept between runs of a page."""
