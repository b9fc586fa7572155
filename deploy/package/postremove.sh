#!/bin/sh
# Makes systemd forget the removed unit. The user pingpost and /var/lib/pingpost stay, also
# after a purge: the folder has the exchange's leads and the keys of its backups.
set -e
if [ -d /run/systemd/system ]; then
	systemctl daemon-reload
fi
if [ "$1" = purge ] && [ -d /var/lib/pingpost ]; then
	echo 'pingpost: /var/lib/pingpost keeps the data of the exchange. Remove the folder and the user pingpost yourself.'
fi
