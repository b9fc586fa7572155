#!/bin/sh
# Prints the next step of a first installation. At an upgrade it restarts a running service.
# The first argument is "configure" from dpkg, or the number of installed versions from rpm.
set -e
case "$1" in
configure | [0-9]*) ;;
*) exit 0 ;;
esac
if [ -d /run/systemd/system ]; then
	systemctl daemon-reload
	if systemctl is-active --quiet pingpost; then
		# A reload checks the configuration with the new program. After a mistake the old
		# program continues.
		if systemctl reload pingpost; then
			systemctl restart pingpost
		else
			echo 'pingpost: the new version rejects the configuration, and the old version continues to run.' >&2
			echo 'pingpost: see journalctl -u pingpost, correct /etc/pingpost/pingpost.yaml, then systemctl restart pingpost' >&2
		fi
		exit 0
	fi
fi
if ! grep -q '^PINGPOST_ADMIN_PASSWORD=.' /etc/pingpost/env 2>/dev/null; then
	cat <<'END'
pingpost is installed, but does not run yet. Next:
  1. Set PINGPOST_ADMIN_PASSWORD in /etc/pingpost/env (12 characters or more).
  2. systemctl enable --now pingpost
  3. Open http://127.0.0.1:9090 in a browser and sign in with any user name and the password.
END
fi
