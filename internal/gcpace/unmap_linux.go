package gcpace

import (
	"bufio"
	"bytes"
	"os"
	"strconv"
	"syscall"
)

// unmapProgramFile removes the pages of the program's file from the memory of the process. At the start each
// package initializes itself, so nearly all of the program is mapped, but few pages are used again. The kernel maps a
// page again at its next use, mostly without reading the disk. A mapping with changed pages stays, because
// their content would be lost.
func unmapProgramFile() {
	program, err := os.Executable()
	if err != nil {
		return
	}
	mappings, err := os.Open("/proc/self/smaps")
	if err != nil {
		return
	}
	defer mappings.Close()
	var from, to uintptr
	for lines := bufio.NewScanner(mappings); lines.Scan(); {
		fields := bytes.Fields(lines.Bytes())
		switch {
		case len(fields) > 2 && bytes.Contains(fields[0], []byte("-")):
			from, to = parseProgramMapping(fields, program)
		case len(fields) > 2 && string(fields[0]) == "Anonymous:" && string(fields[1]) == "0" && from < to:
			_, _, _ = syscall.Syscall(syscall.SYS_MADVISE, from, to-from, syscall.MADV_DONTNEED) // an error means that the pages stay
		}
	}
}

// parseProgramMapping returns the addresses of a mapping in smaps, or zeros unless it is a read-only part of
// the program's file.
func parseProgramMapping(fields [][]byte, program string) (from, to uintptr) {
	if len(fields) != 6 || string(fields[5]) != program || fields[1][0] != 'r' || fields[1][1] != '-' {
		return 0, 0
	}
	low, high, _ := bytes.Cut(fields[0], []byte("-"))
	start, err := strconv.ParseUint(string(low), 16, 64)
	if err != nil {
		return 0, 0
	}
	end, err := strconv.ParseUint(string(high), 16, 64)
	if err != nil {
		return 0, 0
	}
	return uintptr(start), uintptr(end)
}
