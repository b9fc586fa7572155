#!/bin/sh
# Stops the service before its program is removed. An upgrade leaves it running.
# The first argument is "remove" from dpkg, or 0 from rpm, unless this is an upgrade.
set -e
case "$1" in
remove | 0)
	if [ -d /run/systemd/system ]; then
		systemctl disable --now pingpost || true
	fi
	;;
esac
