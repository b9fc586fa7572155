"""The version of this package, which is told in its User-Agent."""

VERSION = "0.1.0"
