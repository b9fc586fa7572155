#!/bin/sh
# Creates the service's user before the package's files are unpacked, because some belong to it.
set -e
getent group pingpost >/dev/null || groupadd --system pingpost
getent passwd pingpost >/dev/null ||
	useradd --system --gid pingpost --home-dir /var/lib/pingpost --no-create-home --shell /usr/sbin/nologin pingpost
