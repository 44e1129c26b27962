//! Pictures: SVG and DOT.
