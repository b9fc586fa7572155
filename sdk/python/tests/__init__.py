"""Tests of the package: real sockets, real servers, no stand-ins for either."""
