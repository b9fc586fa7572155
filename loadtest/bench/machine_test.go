package main

import (
	"slices"
	"testing"
)

func TestFilesystemOfTheNearestMount(t *testing.T) {
	const mounts = "/dev/vda / ext4 rw 0 0\nproc /proc proc rw 0 0\ntmpfs /tmp tmpfs rw 0 0\n/dev/vdb /tmp/disk xfs rw 0 0\n/dev/vdc /tmp/disk btrfs rw 0 0\n"
	for dir, want := range map[string]string{
		"/srv/data": "ext4", "/tmp": "tmpfs", "/tmp/x": "tmpfs", "/tmp/disk/x": "btrfs", "/tmpx": "ext4", "/": "ext4",
	} {
		if got := filesystemOf(mounts, dir); got != want {
			t.Errorf("%s is on %s, want %s", dir, got, want)
		}
	}
	if got := filesystemOf("", "/srv"); got != "unknown" {
		t.Errorf("without mounts: %s", got)
	}
}

func TestShareCores(t *testing.T) {
	for _, test := range []struct {
		available, servers, client []int
		output                     string
	}{
		{available: []int{0}},
		{available: nil},
		{[]int{0, 1}, []int{0}, []int{1}, "Servers are pinned to core 0, the client, a process of its own, to core 1."},
		{[]int{2, 3, 4, 5}, []int{2, 3, 4}, []int{5}, "Servers are pinned to core 2-4, the client, a process of its own, to core 5."},
		{[]int{0, 1, 2, 3, 4, 5, 6, 7}, []int{0, 1, 2, 3, 4, 5}, []int{6, 7}, "Servers are pinned to core 0-5, the client, a process of its own, to core 6-7."},
	} {
		got := shareCores(test.available)
		if !slices.Equal(got.servers, test.servers) || !slices.Equal(got.client, test.client) {
			t.Errorf("%v: %+v", test.available, got)
		}
		if test.output != "" && got.String() != test.output {
			t.Errorf("%s", got.String())
		}
	}
}
