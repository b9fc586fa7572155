package strace

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pingpost/internal/must"
)

// formatCall formats a call as one line.
func formatCall(c *Call) string {
	done := fmt.Sprint(c.Done)
	if c.Done == Never {
		done = "never"
	}
	if c.Torn {
		done += ", torn"
	}
	return fmt.Sprintf("%s(%s)=%d %d-%s", c.Name, strings.Join(c.Args, " "), c.Result, c.Enter, done)
}

func TestReadKeepsOrder(t *testing.T) {
	for what, test := range map[string]struct {
		lines []string
		want  []string
		last  int
	}{
		"nothing": {nil, nil, 1},
		"one after the other": {
			[]string{`10 fsync(3) = 0`, `10 close(3) = 0`},
			[]string{"fsync(3)=0 2-3", "close(3)=0 4-5"},
			5,
		},
		"two at once": {
			[]string{`10 fsync(3 <unfinished ...>`, `11 write(4, "\x41", 1) = 1`, `10 <... fsync resumed>) = 0`},
			[]string{"fsync(3)=0 2-6", `write(4 "\x41" 1)=1 4-5`},
			7,
		},
		"one within another": {
			[]string{`10 fsync(3 <unfinished ...>`, `11 fsync(4 <unfinished ...>`, `11 <... fsync resumed>) = 0`, `10 <... fsync resumed>) = 0`},
			[]string{"fsync(3)=0 2-8", "fsync(4)=0 4-6"},
			9,
		},
		"a result with its path": {
			[]string{`10 openat(AT_FDCWD<\x2f>, "\x61", O_RDONLY) = 7<\x2f\x61>`},
			[]string{`openat(AT_FDCWD<\x2f> "\x61" O_RDONLY)=7 2-3`},
			3,
		},
		"a failure": {
			[]string{`10 unlinkat(AT_FDCWD<\x2f>, "\x61", 0) = -1 ENOENT (No such file or directory)`, `10 close(3) = 0`},
			[]string{`unlinkat(AT_FDCWD<\x2f> "\x61" 0)=-1 2-3`, "close(3)=0 4-5"},
			5,
		},
		"a result in other digits": {
			[]string{`10 lseek(3, 0, SEEK_END) = 0x10 (something)`},
			[]string{"lseek(3 0 SEEK_END)=16 2-3"},
			3,
		},
		"killed in a call": {
			[]string{`10 write(4, "\x41", 1 <unfinished ...>`, `10 +++ killed by SIGKILL +++`},
			[]string{`write(4 "\x41" 1)=0 2-never`},
			5,
		},
		"killed, and the tracer says so": {
			[]string{`10 write(4, "\x41", 1) = ?`, `10 +++ killed by SIGKILL +++`},
			[]string{`write(4 "\x41" 1)=-1 2-never`},
			5,
		},
		"killed, and both are said": {
			[]string{`10 pwrite64(4, "\x41", 1, 7 <unfinished ...>`, `11 fsync(4) = 0`, `10 <... pwrite64 resumed> <unfinished ...>) = ?`, `10 +++ killed by SIGKILL +++`},
			[]string{`pwrite64(4 "\x41" 1 7)=-1 2-never`, "fsync(4)=0 4-5"},
			9,
		},
		"killed, and the result is no error's": {
			[]string{`10 write(4, "\x41", 1 <unfinished ...>`, `11 fsync(4) = 0`, `10 <... write resumed>) = -1 (errno 18446744073709551615)`},
			[]string{`write(4 "\x41" 1)=-1 2-never`, "fsync(4)=0 4-5"},
			7,
		},
		"killed, and the result is another call's": {
			[]string{`10 write(4, "\x41\x42", 2) = 1`, `10 pwrite64(4, "\x41", 1, 7) = 85`, `11 write(4, "\x41", 1) = 1`, `12 write(4, "\x41", 1) = -1 EAGAIN (Resource temporarily unavailable)`, `13 unlinkat(AT_FDCWD, "\x41", 0) = 1`},
			[]string{`write(4 "\x41\x42" 2)=1 2-3`, `pwrite64(4 "\x41" 1 7)=-1 4-never`, `write(4 "\x41" 1)=1 6-7`, `write(4 "\x41" 1)=-1 8-never`, `unlinkat(AT_FDCWD "\x41" 0)=-1 10-never`},
			11,
		},
		"killed while the line was written": {
			[]string{`10 fsync(3 <unfinished ...>`, `11 write(4, "\x41", 1 <detached ...>`, `10 <... fsync resumed> <detached ...>`, `10 +++ killed by SIGKILL +++`},
			[]string{"fsync(3)=0 2-never", `write(4 "\x41" 1)=0 4-never, torn`},
			9,
		},
		"begun again after a signal": {
			[]string{`10 write(4, "\x41", 1) = ? ERESTARTSYS (To be restarted if SA_RESTART is set)`, `10 --- SIGURG {si_signo=SIGURG} ---`, `10 write(4, "\x41", 1) = 1`},
			[]string{`write(4 "\x41" 1)=-1 2-3`, `write(4 "\x41" 1)=1 6-7`},
			7,
		},
		"what looks like the record's own is in a string": {
			[]string{`10 write(4, ` + quoted(") = 5 <unfinished ...>") + `, 1) = 1`},
			[]string{`write(4 ` + quoted(") = 5 <unfinished ...>") + ` 1)=1 2-3`},
			3,
		},
		"one that waits for the end of its line": {
			[]string{`10 fsync(3) = 0`, ``, `10 exit_group(0) = ?`, `10 +++ exited with 0 +++`},
			[]string{"fsync(3)=0 2-3", "exit_group(0)=-1 4-never"},
			7,
		},
	} {
		t.Run(what, func(t *testing.T) {
			calls, last, err := ReadRecord(strings.NewReader(strings.Join(test.lines, "\n")), 0)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, c := range calls {
				got = append(got, formatCall(c))
			}
			if fmt.Sprint(got) != fmt.Sprint(test.want) || last != test.last {
				t.Errorf("read %q up to %d, want %q up to %d", got, last, test.want, test.last)
			}
		})
	}
}

func TestReadContinuesTicks(t *testing.T) {
	calls, last, err := ReadRecord(strings.NewReader("10 fsync(3) = 0\n"), 100)
	if err != nil || len(calls) != 1 || calls[0].Enter != 102 || calls[0].Done != 103 || last != 103 {
		t.Errorf("read %v up to %d, %v", calls, last, err)
	}
}

func TestReadRejectsInvalidRecord(t *testing.T) {
	for what, line := range map[string]string{
		"the line has no result":      "10 fsync(3)",
		"a result that is none":       "10 fsync(3) = yes",
		"no call at all":              "10 hello = 3",
		"the end of what never began": "10 <... fsync resumed>) = 0",
	} {
		if calls, _, err := ReadRecord(strings.NewReader(line+"\n"), 0); err == nil {
			t.Errorf("%s was read as %s", what, formatCall(calls[0]))
		}
	}
}

// Records of several processes have one clock. The order of the lines is exact, so a time that stays
// behind does not change it.
func TestTicksAreTimes(t *testing.T) {
	record := strings.Join([]string{
		`10 100.000000500 fsync(3) = 0 <0.000000300>`,
		`10 100.000001000 write(3, "\x61", 1 <unfinished ...>`,
		`11 100.000000900 fsync(4) = 0 <0.000000001>`,
		`10 100.000002000 <... write resumed>) = 1 <0.000001000>`,
	}, "\n")
	calls, last, err := ReadTimedRecord(strings.NewReader(record), time.Unix(100, 0))
	must.Succeed(t, err)
	want := [][2]int{{500, 800}, {1000, 2000}, {1002, 1003}}
	for i, c := range calls {
		if got := [2]int{c.Enter, c.Done}; got != want[i] {
			t.Errorf("call %d is at ticks %v, want %v", i, got, want[i])
		}
	}
	if last != 2001 || len(calls) != len(want) {
		t.Errorf("%d calls until tick %d", len(calls), last)
	}
	if _, _, err := ReadTimedRecord(strings.NewReader("10 100.5 fsync(3) = 0\n"), time.Unix(100, 0)); err == nil {
		t.Error("a time in tenths was accepted")
	}
}
