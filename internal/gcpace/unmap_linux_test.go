package gcpace

import (
	"bytes"
	"os"
	"strconv"
	"testing"
)

// TestUnmapProgramFile: few pages of the program's file are in memory afterwards, and the program continues.
func TestUnmapProgramFile(t *testing.T) {
	before := residentFileKilobytes(t)
	unmapProgramFile()
	if after := residentFileKilobytes(t); after >= before {
		t.Errorf("%d kB of files are in memory, %d before", after, before)
	}
}

func residentFileKilobytes(t *testing.T) int {
	t.Helper()
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Skip(err)
	}
	_, rest, _ := bytes.Cut(text, []byte("RssFile:"))
	kilobytes, err := strconv.Atoi(string(bytes.Fields(rest)[0]))
	if err != nil {
		t.Fatal(err)
	}
	return kilobytes
}

// TestParseProgramMapping: only read-only parts of the program's file are unmapped.
func TestParseProgramMapping(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]uintptr{
		"00400000-0183b000 r-xp 00000000 fe:00 1 /bin/p": 0x400000, "00400000-0183b000 r--p 00000000 fe:00 1 /bin/p": 0x400000,
		"00400000-0183b000 rw-p 00000000 fe:00 1 /bin/p": 0, "00400000-0183b000 r-xp 00000000 fe:00 1 /bin/q": 0, "00400000-0183b000 r--p 00000000 00:00 0": 0,
	} {
		if from, _ := parseProgramMapping(bytes.Fields([]byte(line)), "/bin/p"); from != want {
			t.Errorf("%s: %#x, want %#x", line, from, want)
		}
	}
}
