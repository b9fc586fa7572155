#!/bin/sh
# A machine with a systemd of its own, in namespaces: everything below is written over an
# overlay, and gone with them.
#
#   machine.sh FOLDER PROGRAM UNIT
#
# FOLDER/said gets what trial.sh says, FOLDER/groups the control groups that it leaves.
# Exit 77: this machine does not permit it.
set -eu
folder=$1 program=$2 unit=$3
cannot() { echo "$1" >&2; exit 77; }

if [ "${4-}" != inside ]; then
	# A control group of its own is the root of what it will see of them.
	if [ -e /sys/fs/cgroup/cgroup.controllers ]; then unified=/sys/fs/cgroup; else unified=/sys/fs/cgroup/unified; fi
	for base in "$unified$(sed -n 's/^0:://p' /proc/self/cgroup)" "/sys/fs/cgroup/systemd$(sed -n 's/^[0-9]*:name=systemd://p' /proc/self/cgroup)"; do
		[ -e "$base/cgroup.procs" ] || continue
		mkdir "$base/pingpost-trial-$$" || cannot 'no control group can be made'
		echo "$base/pingpost-trial-$$" >>"$folder/groups"
		echo $$ >"$base/pingpost-trial-$$/cgroup.procs" || cannot 'no process can be put into a control group'
	done
	[ -s "$folder/groups" ] || cannot 'there are no control groups'
	exec unshare --fork --kill-child --pid --mount --uts --ipc --net --cgroup sh "$0" "$folder" "$program" "$unit" inside
fi

mount --make-rprivate / || cannot 'mounts cannot be made private'
mount -t tmpfs tmpfs "$folder/over" || cannot 'no tmpfs can be mounted'
mkdir "$folder/over/lower" "$folder/over/upper" "$folder/over/work" "$folder/over/root"
mount --bind / "$folder/over/lower"
root=$folder/over/root
mount -t overlay overlay -o "lowerdir=$folder/over/lower,upperdir=$folder/over/upper,workdir=$folder/over/work" "$root" || cannot 'no overlay can be mounted'
# What would be the real machine's, its settings and its devices, can be read only.
mount -t proc proc "$root/proc" || cannot 'no /proc can be mounted'
mount --bind "$root/proc/sys" "$root/proc/sys"
mount -o remount,bind,ro "$root/proc/sys" || cannot '/proc/sys cannot be kept from being written to'
mount -t sysfs -o ro sysfs "$root/sys" || cannot 'no /sys can be mounted'
if [ -e /sys/fs/cgroup/cgroup.controllers ]; then
	mount -t cgroup2 cgroup2 "$root/sys/fs/cgroup" || cannot 'no control groups can be mounted'
else
	mount -t tmpfs tmpfs "$root/sys/fs/cgroup"
	mkdir "$root/sys/fs/cgroup/systemd"
	mount -t cgroup -o none,name=systemd cgroup "$root/sys/fs/cgroup/systemd" || cannot 'no control groups can be mounted'
fi
mount -t tmpfs tmpfs "$root/dev"
for device in null zero full random urandom tty; do
	touch "$root/dev/$device"
	mount --bind "/dev/$device" "$root/dev/$device" || cannot "no /dev/$device can be had"
done
mkdir "$root/dev/pts" "$root/dev/shm"
mount -t devpts -o newinstance,ptmxmode=0666 devpts "$root/dev/pts" || cannot 'no devpts can be mounted'
ln -s pts/ptmx "$root/dev/ptmx"
ln -s /proc/self/fd "$root/dev/fd"
mount -t tmpfs tmpfs "$root/run"
mount -t tmpfs tmpfs "$root/tmp"
mkdir -p "$root/run/trial"
mount --bind "$folder" "$root/run/trial"

install -m 755 "$program" "$root/usr/local/bin/pingpost"
install -m 644 "$unit" "$root/etc/systemd/system/pingpost.service"
# Nothing else is started: no udev, no sysctl, no services of this machine.
rm -f "$root"/etc/systemd/system/*.wants/* "$root"/usr/lib/systemd/system/*.wants/*
chroot "$root" useradd --system --home /var/lib/pingpost --shell /usr/sbin/nologin pingpost
install -d -m 750 "$root/etc/pingpost"
install -m 640 "$folder/exchange.yaml" "$root/etc/pingpost/pingpost.yaml"
install -m 600 "$folder/env" "$root/etc/pingpost/env"
install -d "$root/mnt/backup"
chroot "$root" chgrp -R pingpost /etc/pingpost
chroot "$root" chown pingpost /mnt/backup

cat >"$root/etc/systemd/system/trial.service" <<'END'
[Unit]
DefaultDependencies=no
[Service]
Type=oneshot
ExecStart=/bin/sh /run/trial/trial.sh
StandardOutput=append:/run/trial/said
StandardError=append:/run/trial/said
END

cd "$root"
mkdir before
pivot_root . before || cannot 'the root cannot be changed'
umount -l before
exec env -i container=unshare PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
	setpriv --bounding-set=-sys_module,-sys_rawio,-sys_time,-sys_boot,-syslog,-wake_alarm \
	/lib/systemd/systemd --system --unit=trial.service --show-status=0
