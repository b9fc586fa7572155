package disk

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pingpost/internal/must"
)

// Name changes without an fsync of the directory are present or not.
func TestUnsyncedNamesMayBeLost(t *testing.T) {
	for what, test := range map[string]struct {
		do  func(tp *callBuilder)
		may []string
	}{
		"a name without fsync": {func(tp *callBuilder) { tp.create(3, "a") }, []string{"", "a="}},
		"one with":             {func(tp *callBuilder) { tp.create(3, "a"); tp.syncDir("") }, []string{"a="}},
		"an fsync of the file is none of its name": {func(tp *callBuilder) {
			tp.create(3, "a")
			tp.write(3, "x")
			tp.sync(3)
		}, []string{"", "a=x"}},
		"two names": {func(tp *callBuilder) { tp.create(3, "a"); tp.create(4, "b") }, []string{"", "a=", "b=", "a= b="}},
		"a name that is removed": {func(tp *callBuilder) {
			tp.createDurable("a", "x")
			tp.unlink("a")
		}, []string{"", "a=x"}},
		"one that is removed for good": {func(tp *callBuilder) {
			tp.createDurable("a", "x")
			tp.unlink("a")
			tp.syncDir("")
		}, []string{""}},
		"a rename is one change, or leaves both": {func(tp *callBuilder) {
			tp.createDurable("a", "x")
			tp.rename("a", "b")
		}, []string{"a=x", "b=x", "a=x b=x"}},
		"one over another": {func(tp *callBuilder) {
			tp.createDurable("a", "new")
			tp.createDurable("b", "old")
			tp.rename("a", "b")
		}, []string{"a=new b=old", "b=new", "a=new b=new"}},
		"a rename with fsync": {func(tp *callBuilder) {
			tp.createDurable("a", "x")
			tp.rename("a", "b")
			tp.syncDir("")
		}, []string{"b=x"}},
		"to another folder, of which that one is synced": {func(tp *callBuilder) {
			tp.mkdir("d")
			tp.syncDir("")
			tp.createDurable("a", "x")
			tp.rename("a", "d/b")
			tp.syncDir("d")
		}, []string{"d/b=x", "a=x d/b=x"}},
		"to another folder, of which the first is": {func(tp *callBuilder) {
			tp.mkdir("d")
			tp.syncDir("")
			tp.createDurable("a", "x")
			tp.rename("a", "d/b")
			tp.syncDir("")
		}, []string{"d/b=x"}},
		"a folder that is lost takes all with it": {func(tp *callBuilder) {
			tp.mkdir("d")
			tp.createDurable("d/a", "x")
		}, []string{"", "d/a=x"}},
		"a name for what was never written durably": {func(tp *callBuilder) {
			tp.create(3, "a")
			tp.write(3, "x")
			tp.syncDir("")
		}, []string{"a=", "a=x", "a=\x00"}},
		"the file under a name is another one": {func(tp *callBuilder) {
			tp.createDurable("a", "old")
			tp.create(3, "new")
			tp.write(3, "new")
			tp.sync(3)
			tp.rename("new", "a")
		}, []string{"a=old", "a=new", "a=old new=new", "a=new new=new"}},
		"a file that was removed and made anew": {func(tp *callBuilder) {
			tp.createDurable("a", "old")
			tp.unlink("a")
			tp.create(3, "a")
		}, []string{"", "a=", "a=old"}},
	} {
		t.Run(what, func(t *testing.T) {
			tp := newCallBuilder(t)
			test.do(tp)
			tp.follow()
			expectExactly(t, tp.listingsAfterLoss(tp.tick), test.may...)
		})
	}
}

// Of two changes, only Scattered and Twice lose just the first one. Only Ordered keeps earlier
// changes of a synced one.
func TestOrdersOfNameLoss(t *testing.T) {
	tp := newCallBuilder(t)
	tp.mkdir("d")
	tp.syncDir("")
	tp.create(3, "a")
	tp.create(4, "d/b")
	tp.create(5, "c")
	tp.syncDir("d")
	tp.follow()
	for order, may := range map[NameLoss][]string{
		Ordered:   {"a= d/b=", "a= c= d/b="},
		Scattered: {"d/b=", "a= d/b=", "c= d/b=", "a= c= d/b="},
		Twice:     {"d/b=", "a= d/b=", "c= d/b=", "a= c= d/b="},
	} {
		left := map[string]int{}
		for seed := range uint64(600) {
			if tp.disk.LosePower(tp.tick, rand.New(rand.NewPCG(seed, 0))).Order == order {
				left[tp.listingAfterLoss(tp.tick, seed)]++
			}
		}
		expectExactly(t, left, may...)
	}
}

// An fsync covers the calls that ended before it started, and only after it returned.
func TestFsyncCoversEarlierCallsOnly(t *testing.T) {
	tp := newCallBuilder(t)
	tp.createDurable("a", "")
	tp.open(3, "a", "O_WRONLY")
	first := tp.write(3, "1")
	second := tp.write(3, "2")
	tp.sync(3)
	sync := tp.calls[len(tp.calls)-1]
	first.Enter, first.Done = 100, 101
	second.Enter, second.Done = 102, 111 // ends after the fsync started
	sync.Enter, sync.Done = 110, 120
	tp.tick = 130
	tp.follow()
	for tick, may := range map[int][]string{
		99:  {"a="},
		100: {"a=", "a=1", "a=\x00"},
		103: {"a=", "a=1", "a=\x00", "a=12", "a=1\x00", "a=\x002", "a=\x00\x00"},
		119: {"a=", "a=1", "a=\x00", "a=12", "a=1\x00", "a=\x002", "a=\x00\x00"},
		120: {"a=1", "a=12", "a=1\x00"},
	} {
		left := tp.listingsAfterLoss(tick)
		for folder := range left {
			if !slices.Contains(may, folder) {
				t.Errorf("tick %d: this cannot be: %q", tick, folder)
			}
		}
		for _, sure := range []string{may[0], may[len(may)-1]} {
			if left[sure] == 0 && tick != 103 && tick != 119 {
				t.Errorf("tick %d: this can be and never comes: %q", tick, sure)
			}
		}
	}
}

// After the last fsync, each page is independent and may be torn at any byte. Synced content
// stays. The size is one that the file had, or lies within a torn write.
func TestUnsyncedPagesMayTear(t *testing.T) {
	tp := newCallBuilder(t)
	fill := func(letter string, pages int) string { return strings.Repeat(letter, pages*pageSize) }
	tp.createDurable("a", fill("d", 1))
	tp.open(3, "a", "O_WRONLY|O_APPEND")
	for _, letter := range []string{"x", "y", "z"} {
		tp.write(3, fill(letter, 2))
	}
	tp.follow()
	var zeros, torn, short, gap, all, none int
	for seed := range uint64(400) {
		m := tp.disk.LosePower(tp.tick, rand.New(rand.NewPCG(seed, 0)))
		text := string(m.texts[tp.disk.lookUp(tp.dir+"/a")])
		if !strings.HasPrefix(text, fill("d", 1)) || len(text) > 7*pageSize {
			t.Fatalf("loss %d (%s): what was synced is gone, or there is more than was written: %d bytes", seed, m, len(text))
		}
		holes := false
		for page := 1; page*pageSize < len(text); page++ {
			is := text[page*pageSize : min(len(text), (page+1)*pageSize)]
			letter := string("dxxyyzz"[page])
			written := strings.Count(is, letter)
			if written+strings.Count(is, "\x00") != len(is) || strings.Contains(is, "\x00"+letter) && strings.Contains(is, letter+"\x00") {
				t.Fatalf("loss %d (%s): page %d is neither what was written nor zeros, nor one behind the other", seed, m, page)
			}
			switch {
			case written == len(is):
				if holes {
					gap++
				}
			case written == 0:
				zeros, holes = zeros+1, true
			default:
				torn, holes = torn+1, true
			}
		}
		switch {
		case len(text) == pageSize:
			none++
		case len(text) < 7*pageSize:
			short++
		case !strings.Contains(text, "\x00"):
			all++
		}
	}
	for what, n := range map[string]int{"zeros": zeros, "torn pages": torn, "short files": short, "pages behind a hole": gap, "whole files": all, "nothing of it": none} {
		if n < 5 {
			t.Errorf("%s came %d times in 400 losses", what, n)
		}
	}
}

// The kernel may have written an intermediate version of a page.
func TestPageMayHaveIntermediateVersion(t *testing.T) {
	tp := newCallBuilder(t)
	tp.createDurable("a", "0000")
	tp.open(3, "a", "O_WRONLY")
	pwrite(tp, 3, "1111", 0)
	pwrite(tp, 3, "22", 1)
	tp.follow()
	left := tp.listingsAfterLoss(tp.tick)
	for _, may := range []string{"a=0000", "a=1111", "a=1221"} {
		if left[may] == 0 {
			t.Errorf("this can be and never comes: %q", may)
		}
	}
	for folder := range left {
		for _, letter := range strings.TrimPrefix(folder, "a=") {
			if !strings.ContainsRune("012", letter) || len(folder) != 6 {
				t.Errorf("this cannot be: %q", folder)
			}
		}
	}
}

// Truncated bytes may reappear.
func TestUnsyncedTruncateMayBeUndone(t *testing.T) {
	tp := newCallBuilder(t)
	tp.createDurable("a", "12345")
	tp.open(3, "a", "O_WRONLY")
	truncate(tp, 3, 2)
	tp.follow()
	left := tp.listingsAfterLoss(tp.tick)
	if left["a=12345"] == 0 || left["a=12"] == 0 {
		t.Errorf("left: %v", left)
	}
	tp.open(3, "a", "O_WRONLY")
	tp.sync(3)
	tp.follow()
	expectExactly(t, tp.listingsAfterLoss(tp.tick), "a=12")
}

// A failure must be reproducible.
func TestSameSeedLosesTheSame(t *testing.T) {
	tp := newCallBuilder(t)
	for n := range 8 {
		name := fmt.Sprintf("f%d", n)
		tp.create(3, name)
		tp.write(3, strings.Repeat(name, 5000))
		tp.rename(name, fmt.Sprintf("g%d", n/2))
	}
	tp.follow()
	different := map[string]bool{}
	for seed := range uint64(40) {
		first := tp.listingAfterLoss(tp.tick, seed)
		if again := tp.listingAfterLoss(tp.tick, seed); again != first {
			t.Fatalf("loss %d leaves one time %d bytes and another time %d", seed, len(first), len(again))
		}
		different[first] = true
	}
	if len(different) < 12 {
		t.Errorf("40 losses leave only %d different folders", len(different))
	}
}

// A lifetime that starts on a loaded folder starts on durable files.
func TestLoadedFolderIsDurable(t *testing.T) {
	tp := newCallBuilder(t)
	tp.mkdir("d")
	tp.create(3, "d/a")
	tp.write(3, "x")
	tp.create(4, "b")
	tp.follow()
	dir := t.TempDir()
	image := tp.disk.LosePower(tp.tick, rand.New(rand.NewPCG(3, 0)))
	must.Succeed(t, image.Write(dir))
	want := listing(t, dir)
	if want != image.listing() {
		t.Errorf("written is %q, and left was %q", want, image.listing())
	}
	again := &callBuilder{t: t, dir: dir, tick: 10}
	var err error
	if again.disk, err = Load(dir); err != nil {
		t.Fatal(err)
	}
	if err := again.disk.CompareWithRealFolder(); err != nil {
		t.Error(err)
	}
	expectExactly(t, again.listingsAfterLoss(10), want)
}

func TestActiveTicks(t *testing.T) {
	tp := newCallBuilder(t)
	tp.create(3, "often")
	for range 60 {
		tp.write(3, "x")
		tp.sync(3)
	}
	begin := tp.tick
	tp.create(4, "seldom") // at begin and begin+1
	tp.write(4, "x")
	tp.follow()
	all, rare := tp.disk.ActiveTicks(0)
	if len(all) < 300 || len(rare) > 20 {
		t.Errorf("%d moments, of them %d rare", len(all), len(rare))
	}
	late, _ := tp.disk.ActiveTicks(begin)
	for _, tick := range late {
		if tick <= begin || tick > tp.tick {
			t.Errorf("tick %d is none of those behind %d", tick, begin)
		}
	}
}

// Intact keeps unsynced changes and calls in progress.
func TestIntactLosesNothing(t *testing.T) {
	tp := newCallBuilder(t)
	tp.createDurable("a", "old")
	tp.create(3, "new")
	tp.write(3, "new")
	tp.rename("new", "a")
	before := tp.tick
	tp.mkdir("d")
	tp.follow()
	for at, want := range map[int]string{before: "a=new", tp.tick: "a=new", 11: "a="} {
		m := tp.disk.IntactImage(at)
		if got := m.listing(); got != want || m.LostNames+m.LostWrites+m.Torn > 0 {
			t.Errorf("at tick %d there is %q (%s), want %q", at, got, m, want)
		}
	}
}
