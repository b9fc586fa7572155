package disk

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pingpost/fuzz/powerloss/strace"
	"pingpost/internal/must"
)

// The live view equals the page cache.
func TestFollowUpdatesLiveView(t *testing.T) {
	for what, test := range map[string]struct {
		do   func(tp *callBuilder)
		want string
	}{
		"nothing":             {func(*callBuilder) {}, ""},
		"an empty file":       {func(tp *callBuilder) { tp.create(3, "a") }, "a="},
		"one write":           {func(tp *callBuilder) { tp.create(3, "a"); tp.write(3, "one") }, "a=one"},
		"two writes":          {func(tp *callBuilder) { tp.create(3, "a"); tp.write(3, "one"); tp.write(3, "two") }, "a=onetwo"},
		"a short write":       {func(tp *callBuilder) { tp.create(3, "a"); tp.write(3, "one").Result = 2 }, "a=on"},
		"a write that failed": {func(tp *callBuilder) { tp.create(3, "a"); tp.write(3, "one").Result = -1 }, "a="},
		"a write to a socket": {func(tp *callBuilder) { tp.create(3, "a"); tp.write(4, "one") }, "a="},
		"at a place":          {func(tp *callBuilder) { tp.create(3, "a"); tp.write(3, "12345"); pwrite(tp, 3, "xx", 1) }, "a=1xx45"},
		"behind the end":      {func(tp *callBuilder) { tp.create(3, "a"); pwrite(tp, 3, "x", 2) }, "a=\x00\x00x"},
		"sought":              {func(tp *callBuilder) { tp.create(3, "a"); tp.write(3, "123"); seek(tp, 3, 1); tp.write(3, "x") }, "a=1x3"},
		"cut":                 {func(tp *callBuilder) { tp.create(3, "a"); tp.write(3, "12345"); truncate(tp, 3, 2) }, "a=12"},
		"grown":               {func(tp *callBuilder) { tp.create(3, "a"); tp.write(3, "1"); truncate(tp, 3, 3) }, "a=1\x00\x00"},
		"set aside": {func(tp *callBuilder) {
			tp.create(3, "a")
			tp.write(3, "123")
			tp.call(0, "fallocate", "3", "0", "2", "3")
		}, "a=123\x00\x00"},
		"opened, and emptied": {func(tp *callBuilder) { tp.createDurable("a", "old"); tp.create(3, "a"); tp.write(3, "n") }, "a=n"},
		"opened, and kept":    {func(tp *callBuilder) { tp.createDurable("a", "old"); tp.open(3, "a", "O_RDWR"); tp.write(3, "n") }, "a=nld"},
		"opened, and added to": {func(tp *callBuilder) {
			tp.createDurable("a", "old")
			tp.open(3, "a", "O_WRONLY|O_APPEND")
			tp.write(3, "n")
		}, "a=oldn"},
		"renamed": {func(tp *callBuilder) { tp.create(3, "a"); tp.rename("a", "b"); tp.write(3, "x") }, "b=x"},
		"renamed over another": {func(tp *callBuilder) {
			tp.createDurable("b", "old")
			tp.create(3, "a")
			tp.rename("a", "b")
			tp.write(3, "x")
		}, "b=x"},
		"removed while open": {func(tp *callBuilder) { tp.create(3, "a"); tp.unlink("a"); tp.write(3, "x") }, ""},
		"in a folder":        {func(tp *callBuilder) { tp.mkdir("d"); tp.create(3, "d/a"); tp.write(3, "x") }, "d/a=x"},
		"moved to a folder":  {func(tp *callBuilder) { tp.createDurable("a", "x"); tp.mkdir("d"); tp.rename("a", "d/b") }, "d/b=x"},
		"a folder, renamed":  {func(tp *callBuilder) { tp.mkdir("d"); tp.createDurable("d/a", "x"); tp.rename("d", "e") }, "e/a=x"},
		"a second name": {func(tp *callBuilder) {
			tp.createDurable("a", "x")
			tp.call(0, "linkat", workingDir, tp.quotedPath("a"), workingDir, tp.quotedPath("b"), "0")
		}, "a=x b=x"},
		"the number used again": {func(tp *callBuilder) { tp.create(3, "a"); tp.closeFile(3); tp.create(3, "b"); tp.write(3, "x") }, "a= b=x"},
		"a second number":       {func(tp *callBuilder) { tp.create(3, "a"); tp.call(7, "dup", "3"); tp.write(7, "x"); tp.write(3, "y") }, "a=xy"},
		"a copy": {func(tp *callBuilder) {
			tp.createDurable("a", "12345")
			tp.open(3, "a", "O_RDONLY")
			tp.create(4, "b")
			tp.call(4, "copy_file_range", "3", "NULL", "4", "NULL", "4", "0")
			tp.call(1, "copy_file_range", "3", "NULL", "4", "NULL", "9", "0")
			tp.call(0, "copy_file_range", "3", "NULL", "4", "NULL", "9", "0")
		}, "a=12345 b=12345"},
		"by the older calls": {func(tp *callBuilder) {
			tp.call(3, "creat", tp.quotedPath("a"), "0600")
			tp.call(0, "mkdir", tp.quotedPath("d"), "0700")
			tp.call(0, "rename", tp.quotedPath("a"), tp.quotedPath("d/b"))
			tp.call(0, "link", tp.quotedPath("d/b"), tp.quotedPath("c"))
			tp.call(0, "unlink", tp.quotedPath("d/b"))
			tp.call(0, "rmdir", tp.quotedPath("d"))
		}, "c="},
		"from the working folder": {func(tp *callBuilder) {
			tp.call(3, "openat", "AT_FDCWD<"+hexed(tp.dir)+">", quoted("a"), "O_CREAT|O_WRONLY", "0600")
			tp.call(4, "openat", "9<"+hexed(tp.dir)+">", quoted("../"+filepath.Base(tp.dir)+"/b"), "O_CREAT|O_WRONLY", "0600")
		}, "a= b="},
		"elsewhere": {func(tp *callBuilder) {
			tp.call(3, "openat", workingDir, quoted(tp.dir+"-beside"), "O_CREAT|O_WRONLY", "0600")
			tp.write(3, "x")
			tp.call(0, "mkdirat", workingDir, quoted("/elsewhere"), "0700")
			tp.call(0, "unlinkat", workingDir, quoted("/elsewhere/x"), "0")
		}, ""},
		"what fails changes nothing": {func(tp *callBuilder) {
			tp.createDurable("a", "x")
			tp.call(-1, "renameat", workingDir, tp.quotedPath("a"), workingDir, tp.quotedPath("b"))
			tp.call(-1, "openat", workingDir, tp.quotedPath("a"), "O_CREAT|O_EXCL|O_TRUNC", "0600")
			tp.call(-1, "unlinkat", workingDir, tp.quotedPath("none"), "0")
		}, "a=x"},
	} {
		t.Run(what, func(t *testing.T) {
			tp := newCallBuilder(t)
			test.do(tp)
			if got := tp.liveListing(); got != test.want {
				t.Errorf("the model sees %q, and the process saw %q", got, test.want)
			}
		})
	}
}

func pwrite(tp *callBuilder, fd int, text string, off int) *strace.Call {
	return tp.call(int64(len(text)), "pwrite64", fmt.Sprint(fd), quoted(text), fmt.Sprint(len(text)), fmt.Sprint(off))
}

func seek(tp *callBuilder, fd, to int) {
	tp.call(int64(to), "lseek", fmt.Sprint(fd), fmt.Sprint(to), "SEEK_SET")
}

func truncate(tp *callBuilder, fd, size int) *strace.Call {
	return tp.call(0, "ftruncate", fmt.Sprint(fd), fmt.Sprint(size))
}

// The model must reject unknown calls instead of ignoring them.
func TestFollowRejectsUnknownCalls(t *testing.T) {
	for what, do := range map[string]func(tp *callBuilder){
		"a hole is made": func(tp *callBuilder) {
			tp.call(0, "fallocate", "3", "FALLOC_FL_PUNCH_HOLE|FALLOC_FL_KEEP_SIZE", "0", "1")
		},
		"pieces are written":        func(tp *callBuilder) { tp.call(1, "writev", "3", "[{iov_base="+quoted("x"), "iov_len=1}]", "1") },
		"a file is sent to a file":  func(tp *callBuilder) { tp.call(1, "sendfile", "3", "4", "NULL", "1") },
		"a symbolic link":           func(tp *callBuilder) { tp.call(0, "symlinkat", tp.quotedPath("a"), workingDir, tp.quotedPath("b")) },
		"a file is cut by its name": func(tp *callBuilder) { tp.call(0, "truncate", tp.quotedPath("a"), "0") },
		"a name that is not there":  func(tp *callBuilder) { tp.rename("b", "c") },
		"a file that is not there":  func(tp *callBuilder) { tp.open(5, "b", "O_RDONLY") },
		"to another disk": func(tp *callBuilder) {
			tp.call(0, "renameat", workingDir, tp.quotedPath("a"), workingDir, quoted("/elsewhere"))
		},
		"a part of a write":   func(tp *callBuilder) { tp.call(3, "write", "3", quoted("abc")+"...", "30") },
		"a path from nowhere": func(tp *callBuilder) { tp.call(0, "mkdir", quoted("d"), "0700") },
		"a copy of a part":    func(tp *callBuilder) { tp.call(1, "copy_file_range", "3", "[1]", "3", "NULL", "1", "0") },
	} {
		tp := newCallBuilder(t)
		tp.create(3, "a")
		do(tp)
		if err := tp.disk.ApplyCalls(tp.calls, tp.tick); err == nil {
			t.Errorf("%s: was taken", what)
		}
	}
}

// Compare must detect every difference from the real folder.
func TestCompareDetectsDifferences(t *testing.T) {
	for what, real := range map[string]struct {
		make func(dir string) error
		same bool
	}{
		"as it was":        {func(string) error { return nil }, true},
		"another byte":     {func(dir string) error { return os.WriteFile(filepath.Join(dir, "a"), []byte("onE"), 0o600) }, false},
		"a byte less":      {func(dir string) error { return os.WriteFile(filepath.Join(dir, "a"), []byte("on"), 0o600) }, false},
		"a file more":      {func(dir string) error { return os.WriteFile(filepath.Join(dir, "b"), nil, 0o600) }, false},
		"a file less":      {func(dir string) error { return os.Remove(filepath.Join(dir, "a")) }, false},
		"a folder more":    {func(dir string) error { return os.Mkdir(filepath.Join(dir, "e"), 0o700) }, false},
		"a folder less":    {func(dir string) error { return os.Remove(filepath.Join(dir, "d")) }, false},
		"more in a folder": {func(dir string) error { return os.WriteFile(filepath.Join(dir, "d", "x"), nil, 0o600) }, false},
	} {
		t.Run(what, func(t *testing.T) {
			tp := newCallBuilder(t)
			tp.create(3, "a")
			tp.write(3, "one")
			tp.mkdir("d")
			tp.follow()
			err := os.WriteFile(filepath.Join(tp.dir, "a"), []byte("one"), 0o600)
			if err == nil {
				err = os.Mkdir(filepath.Join(tp.dir, "d"), 0o700)
			}
			if err == nil {
				err = real.make(tp.dir)
			}
			if err != nil {
				t.Fatal(err)
			}
			if err := tp.disk.CompareWithRealFolder(); (err == nil) != real.same {
				t.Errorf("compared: %v", err)
			}
		})
	}
}

// A killed call may have had any part of its effect; the real folder shows which.
func TestUnfinishedCallsFollowRealFolder(t *testing.T) {
	const text = "12345"
	write := func(tp *callBuilder) { tp.write(3, text).Done = strace.Never }
	never := func(c *strace.Call) { c.Done = strace.Never }
	for what, test := range map[string]struct {
		do   func(tp *callBuilder)
		real map[string]string // files besides, or instead of, an empty file a
		want string
	}{
		"a write that did nothing": {write, nil, "a="},
		"half of it":               {write, map[string]string{"a": "123"}, "a=123"},
		"all of it":                {write, map[string]string{"a": text}, "a=12345"},
		"half of a copy": {func(tp *callBuilder) {
			tp.write(3, text)
			tp.open(4, "a", "O_RDONLY")
			tp.create(5, "b")
			never(tp.call(0, "copy_file_range", "4", "NULL", "5", "NULL", "5", "0"))
		}, map[string]string{"a": text, "b": "12"}, "a=12345 b=12"},
		"half of one over zeros": {func(tp *callBuilder) {
			truncate(tp, 3, 5)
			never(tp.write(3, text))
		}, map[string]string{"a": "12\x00\x00\x00"}, "a=12\x00\x00\x00"},
		"one at a place": {func(tp *callBuilder) {
			tp.write(3, text)
			never(pwrite(tp, 3, "xx", 1))
		}, map[string]string{"a": "1xx45"}, "a=1xx45"},
		"one at a place that did nothing": {func(tp *callBuilder) {
			tp.write(3, text)
			never(pwrite(tp, 3, "xx", 1))
		}, map[string]string{"a": text}, "a=12345"},
		"one to a file that has no name": {func(tp *callBuilder) {
			tp.unlink("a")
			never(tp.write(3, text))
		}, map[string]string{"a": "-"}, ""},
		"a file that was cut": {func(tp *callBuilder) {
			tp.write(3, text)
			never(truncate(tp, 3, 2))
		}, map[string]string{"a": "12"}, "a=12"},
		"one that was not cut": {func(tp *callBuilder) {
			tp.write(3, text)
			never(truncate(tp, 3, 2))
		}, map[string]string{"a": text}, "a=12345"},
		"room that was set aside": {func(tp *callBuilder) {
			never(tp.call(0, "fallocate", "3", "0", "0", "3"))
		}, map[string]string{"a": "\x00\x00\x00"}, "a=\x00\x00\x00"},
		"a second name that was given": {func(tp *callBuilder) {
			never(tp.call(0, "linkat", workingDir, tp.quotedPath("a"), workingDir, tp.quotedPath("b"), "0"))
		}, map[string]string{"b": ""}, "a= b="},
		"one that was not given": {func(tp *callBuilder) {
			never(tp.call(0, "linkat", workingDir, tp.quotedPath("a"), workingDir, tp.quotedPath("b"), "0"))
		}, nil, "a="},
		"one to a socket":          {func(tp *callBuilder) { never(tp.write(9, text)) }, nil, "a="},
		"a file that was not made": {func(tp *callBuilder) { tp.create(4, "b"); never(tp.calls[len(tp.calls)-1]) }, nil, "a="},
		"one that was":             {func(tp *callBuilder) { tp.create(4, "b"); never(tp.calls[len(tp.calls)-1]) }, map[string]string{"b": ""}, "a= b="},
		"one that was emptied": {func(tp *callBuilder) {
			tp.write(3, text)
			tp.create(4, "a")
			never(tp.calls[len(tp.calls)-1])
		}, nil, "a="},
		"one that was not": {func(tp *callBuilder) {
			tp.write(3, text)
			tp.create(4, "a")
			never(tp.calls[len(tp.calls)-1])
		}, map[string]string{"a": text}, "a=12345"},
		"a name that did not change": {func(tp *callBuilder) { tp.rename("a", "b"); never(tp.calls[len(tp.calls)-1]) }, nil, "a="},
		"one that did":               {func(tp *callBuilder) { tp.rename("a", "b"); never(tp.calls[len(tp.calls)-1]) }, map[string]string{"a": "-", "b": ""}, "b="},
		"a name that went":           {func(tp *callBuilder) { tp.unlink("a"); never(tp.calls[len(tp.calls)-1]) }, map[string]string{"a": "-"}, ""},
		"one that stayed":            {func(tp *callBuilder) { tp.unlink("a"); never(tp.calls[len(tp.calls)-1]) }, nil, "a="},
		"a folder that was not made": {func(tp *callBuilder) { tp.mkdir("d"); never(tp.calls[len(tp.calls)-1]) }, nil, "a="},
		"what is torn, and nothing that was called": {func(tp *callBuilder) {
			for _, c := range []*strace.Call{
				tp.call(0, "creat", `"\x28\xed\x0f"`, "000"), tp.call(0, "write", "3", "0xc000123", "7"), tp.call(0, "rename", tp.quotedPath("none"), "0x7"),
			} {
				c.Torn = true
				never(c)
			}
		}, nil, "a="},
		"an fsync": {func(tp *callBuilder) { tp.sync(3); never(tp.calls[len(tp.calls)-1]) }, nil, "a="},
	} {
		t.Run(what, func(t *testing.T) {
			tp := newCallBuilder(t)
			tp.create(3, "a")
			test.do(tp)
			there := map[string]string{"a": ""}
			for name, text := range test.real {
				there[name] = text
			}
			for name, text := range there {
				if text == "-" {
					continue
				}
				must.Succeed(t, os.WriteFile(filepath.Join(tp.dir, name), []byte(text), 0o600))
			}
			if got := tp.liveListing(); got != test.want {
				t.Errorf("the model sees %q, want %q", got, test.want)
			}
			if err := tp.disk.CompareWithRealFolder(); err != nil {
				t.Error(err)
			}
		})
	}
}

// A shell and its tools must be followed byte by byte.
func TestFollowRealProcess(t *testing.T) {
	if err := strace.CheckAvailable(); err != nil {
		t.Skip(err)
	}
	dir, out := t.TempDir(), filepath.Join(t.TempDir(), "record")
	must.Succeed(t, os.WriteFile(filepath.Join(dir, "before"), []byte("was there before"), 0o600))
	d := must.Value(Load(dir))(t)
	words := `mkdir "$1/d"; echo one > "$1/a"; echo two >> "$1/a"; echo three > "$1/d/b"; mv "$1/a" "$1/d/c"; echo over > "$1/before"
		(echo from a child > "$1/e"); rm "$1/d/b"; mv "$1/e" "$1/d/c"; mkdir "$1/x"; rmdir "$1/x"; ln "$1/d/c" "$1/f"; mv "$1/d" "$1/y"; : > "$1/z"
		dd if=/dev/zero of="$1/w" bs=5000 count=3 conv=fsync 2>/dev/null; sync "$1/y/c"`
	if said, err := strace.Command(t.Context(), out, "sh", "-c", words, "sh", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	file := must.Value(os.Open(out))(t)
	defer file.Close()
	calls, last, err := strace.ReadRecord(file, 2)
	if err == nil {
		err = d.ApplyCalls(calls, last)
	}
	if err == nil {
		err = d.CompareWithRealFolder()
	}
	if err != nil {
		t.Fatal(err)
	}
	if d.RelevantCallCount() < 15 || !strings.Contains(listing(t, dir), "y/c=from a child") {
		t.Errorf("%d calls, %s", d.RelevantCallCount(), listing(t, dir))
	}
}
