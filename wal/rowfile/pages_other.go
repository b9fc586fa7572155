//go:build !linux

package rowfile

func useHugePages([]uint16) {}

func useSmallPages([]uint16) {}
