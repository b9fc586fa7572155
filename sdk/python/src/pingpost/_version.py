"""The version of this package, which is told in its User-Agent."""

VERSION = "1.0.0"
