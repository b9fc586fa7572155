//go:build !linux

package gcpace

func unmapProgramFile() {}
