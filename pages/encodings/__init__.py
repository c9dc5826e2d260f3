"""The three tabs of the page Positional encodings. They lie a folder down, where Streamlit does not look for pages."""
