package disk

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// TestNamesThatMayBeLost: what a folder's fsync has not covered is there or not.
func TestNamesThatMayBeLost(t *testing.T) {
	for what, test := range map[string]struct {
		do  func(tp *tape)
		may []string
	}{
		"a name without fsync": {func(tp *tape) { tp.create(3, "a") }, []string{"", "a="}},
		"one with":             {func(tp *tape) { tp.create(3, "a"); tp.syncDir("") }, []string{"a="}},
		"an fsync of the file is none of its name": {func(tp *tape) {
			tp.create(3, "a")
			tp.write(3, "x")
			tp.sync(3)
		}, []string{"", "a=x"}},
		"two names": {func(tp *tape) { tp.create(3, "a"); tp.create(4, "b") }, []string{"", "a=", "b=", "a= b="}},
		"a name that is removed": {func(tp *tape) {
			tp.durable("a", "x")
			tp.unlink("a")
		}, []string{"", "a=x"}},
		"one that is removed for good": {func(tp *tape) {
			tp.durable("a", "x")
			tp.unlink("a")
			tp.syncDir("")
		}, []string{""}},
		"a rename is one change, or leaves both": {func(tp *tape) {
			tp.durable("a", "x")
			tp.rename("a", "b")
		}, []string{"a=x", "b=x", "a=x b=x"}},
		"one over another": {func(tp *tape) {
			tp.durable("a", "new")
			tp.durable("b", "old")
			tp.rename("a", "b")
		}, []string{"a=new b=old", "b=new", "a=new b=new"}},
		"a rename with fsync": {func(tp *tape) {
			tp.durable("a", "x")
			tp.rename("a", "b")
			tp.syncDir("")
		}, []string{"b=x"}},
		"to another folder, of which that one is synced": {func(tp *tape) {
			tp.mkdir("d")
			tp.syncDir("")
			tp.durable("a", "x")
			tp.rename("a", "d/b")
			tp.syncDir("d")
		}, []string{"d/b=x", "a=x d/b=x"}},
		"to another folder, of which the first is": {func(tp *tape) {
			tp.mkdir("d")
			tp.syncDir("")
			tp.durable("a", "x")
			tp.rename("a", "d/b")
			tp.syncDir("")
		}, []string{"d/b=x"}},
		"a folder that is lost takes all with it": {func(tp *tape) {
			tp.mkdir("d")
			tp.durable("d/a", "x")
		}, []string{"", "d/a=x"}},
		"a name for what was never written durably": {func(tp *tape) {
			tp.create(3, "a")
			tp.write(3, "x")
			tp.syncDir("")
		}, []string{"a=", "a=x", "a=\x00"}},
		"the file under a name is another one": {func(tp *tape) {
			tp.durable("a", "old")
			tp.create(3, "new")
			tp.write(3, "new")
			tp.sync(3)
			tp.rename("new", "a")
		}, []string{"a=old", "a=new", "a=old new=new", "a=new new=new"}},
		"a file that was removed and made anew": {func(tp *tape) {
			tp.durable("a", "old")
			tp.unlink("a")
			tp.create(3, "a")
		}, []string{"", "a=", "a=old"}},
	} {
		t.Run(what, func(t *testing.T) {
			tp := newTape(t)
			test.do(tp)
			tp.follow()
			are(t, tp.left(tp.tick), test.may...)
		})
	}
}

// TestOrdersOfNames: of two changes the first is lost alone only where changes are
// scattered, and what is synced takes what was before it along only where they
// are ordered.
func TestOrdersOfNames(t *testing.T) {
	tp := newTape(t)
	tp.mkdir("d")
	tp.syncDir("")
	tp.create(3, "a")
	tp.create(4, "d/b")
	tp.create(5, "c")
	tp.syncDir("d")
	tp.follow()
	for order, may := range map[Order][]string{
		Ordered:   {"a= d/b=", "a= c= d/b="},
		Scattered: {"d/b=", "a= d/b=", "c= d/b=", "a= c= d/b="},
		Twice:     {"d/b=", "a= d/b=", "c= d/b=", "a= c= d/b="},
	} {
		left := map[string]int{}
		for seed := range uint64(600) {
			if tp.disk.Lose(tp.tick, rand.New(rand.NewPCG(seed, 0))).Order == order {
				left[tp.after(tp.tick, seed)]++
			}
		}
		are(t, left, may...)
	}
}

// TestAnFsyncCoversWhatHadHappenedBeforeItBegan, once it has returned.
func TestAnFsyncCoversWhatHadHappenedBeforeItBegan(t *testing.T) {
	tp := newTape(t)
	tp.durable("a", "")
	tp.open(3, "a", "O_WRONLY")
	first := tp.write(3, "1")
	second := tp.write(3, "2")
	tp.sync(3)
	sync := tp.calls[len(tp.calls)-1]
	first.Enter, first.Done = 100, 101
	second.Enter, second.Done = 102, 111 // returns when the fsync has begun
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
		left := map[string]int{}
		for folder, n := range tp.left(tick) {
			left[folder] += n
		}
		for folder := range left {
			ok := false
			for _, one := range may {
				ok = ok || folder == one
			}
			if !ok {
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

// TestAPageIsAsItWasAtSomeTime: after the fsync each page by itself, torn at any
// byte; what was synced stays; and the size is one that the file had, or lies in a
// write that is torn.
func TestAPageIsAsItWasAtSomeTime(t *testing.T) {
	tp := newTape(t)
	fill := func(letter string, pages int) string { return strings.Repeat(letter, pages*pageSize) }
	tp.durable("a", fill("d", 1))
	tp.open(3, "a", "O_WRONLY|O_APPEND")
	for _, letter := range []string{"x", "y", "z"} {
		tp.write(3, fill(letter, 2))
	}
	tp.follow()
	var zeros, torn, short, gap, all, none int
	for seed := range uint64(400) {
		m := tp.disk.Lose(tp.tick, rand.New(rand.NewPCG(seed, 0)))
		text := string(m.texts[tp.disk.find(tp.dir+"/a")])
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

// TestAPageWrittenTwiceMayBeAsInBetween: the kernel may have written it then.
func TestAPageWrittenTwiceMayBeAsInBetween(t *testing.T) {
	tp := newTape(t)
	tp.durable("a", "0000")
	tp.open(3, "a", "O_WRONLY")
	pwrite(tp, 3, "1111", 0)
	pwrite(tp, 3, "22", 1)
	tp.follow()
	left := tp.left(tp.tick)
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

// TestACutThatIsNotSynced: what was cut off may be there again.
func TestACutThatIsNotSynced(t *testing.T) {
	tp := newTape(t)
	tp.durable("a", "12345")
	tp.open(3, "a", "O_WRONLY")
	truncate(tp, 3, 2)
	tp.follow()
	left := tp.left(tp.tick)
	if left["a=12345"] == 0 || left["a=12"] == 0 {
		t.Errorf("left: %v", left)
	}
	tp.open(3, "a", "O_WRONLY")
	tp.sync(3)
	tp.follow()
	are(t, tp.left(tp.tick), "a=12")
}

// TestTheSameChanceLosesTheSame: a failure can be looked at again.
func TestTheSameChanceLosesTheSame(t *testing.T) {
	tp := newTape(t)
	for n := range 8 {
		name := fmt.Sprintf("f%d", n)
		tp.create(3, name)
		tp.write(3, strings.Repeat(name, 5000))
		tp.rename(name, fmt.Sprintf("g%d", n/2))
	}
	tp.follow()
	different := map[string]bool{}
	for seed := range uint64(40) {
		first := tp.after(tp.tick, seed)
		if again := tp.after(tp.tick, seed); again != first {
			t.Fatalf("loss %d leaves one time %d bytes and another time %d", seed, len(first), len(again))
		}
		different[first] = true
	}
	if len(different) < 12 {
		t.Errorf("40 losses leave only %d different folders", len(different))
	}
}

// TestLossesAreCounted: what is told of a loss is what it was.
func TestLossesAreCounted(t *testing.T) {
	tp := newTape(t)
	tp.durable("a", "")
	tp.open(3, "a", "O_WRONLY")
	tp.write(3, "12345")
	tp.create(4, "b")
	tp.follow()
	for seed := range uint64(200) {
		m := tp.disk.Lose(tp.tick, rand.New(rand.NewPCG(seed, 0)))
		folder := tp.after(tp.tick, seed)
		if lost := !strings.Contains(folder, "b="); lost != (m.LostNames == 1) {
			t.Errorf("%q: %d names are said to be lost", folder, m.LostNames)
		}
		if lost := !strings.Contains(folder, "a=12345"); lost != (m.LostWrites == 1) || lost != (m.LostBytes == 5) {
			t.Errorf("%q: %d writes of %d bytes are said to be lost", folder, m.LostWrites, m.LostBytes)
		}
		if !strings.HasPrefix(m.String(), m.Order.String()+", ") {
			t.Error(m)
		}
	}
}

// TestWhatIsLoadedIsDurable: a life that begins with what was left begins on a disk.
func TestWhatIsLoadedIsDurable(t *testing.T) {
	tp := newTape(t)
	tp.mkdir("d")
	tp.create(3, "d/a")
	tp.write(3, "x")
	tp.create(4, "b")
	tp.follow()
	dir := t.TempDir()
	image := tp.disk.Lose(tp.tick, rand.New(rand.NewPCG(3, 0)))
	if err := image.Write(dir); err != nil {
		t.Fatal(err)
	}
	want := listing(t, dir)
	if want != image.listing() {
		t.Errorf("written is %q, and left was %q", want, image.listing())
	}
	again := &tape{t: t, dir: dir, tick: 10}
	var err error
	if again.disk, err = Load(dir); err != nil {
		t.Fatal(err)
	}
	if err := again.disk.Compare(); err != nil {
		t.Error(err)
	}
	are(t, again.left(10), want)
}

// TestMomentsAreWhereSomethingHappens.
func TestMomentsAreWhereSomethingHappens(t *testing.T) {
	tp := newTape(t)
	tp.create(3, "often")
	for range 60 {
		tp.write(3, "x")
		tp.sync(3)
	}
	begin := tp.tick
	tp.create(4, "seldom") // at begin and begin+1
	tp.write(4, "x")
	tp.follow()
	all, rare := tp.disk.Moments(0)
	if len(all) < 300 || len(rare) > 20 {
		t.Errorf("%d moments, of them %d rare", len(all), len(rare))
	}
	late, _ := tp.disk.Moments(begin)
	for _, tick := range late {
		if tick <= begin || tick > tp.tick {
			t.Errorf("tick %d is none of those behind %d", tick, begin)
		}
	}
}

// TestADiskThatIsSparedLosesNothing: not even what was never synced, whatever is under
// way.
func TestADiskThatIsSparedLosesNothing(t *testing.T) {
	tp := newTape(t)
	tp.durable("a", "old")
	tp.create(3, "new")
	tp.write(3, "new")
	tp.rename("new", "a")
	before := tp.tick
	tp.mkdir("d")
	tp.follow()
	for at, want := range map[int]string{before: "a=new", tp.tick: "a=new", 11: "a="} {
		m := tp.disk.Intact(at)
		if got := m.listing(); got != want || m.LostNames+m.LostWrites+m.Torn > 0 {
			t.Errorf("at tick %d there is %q (%s), want %q", at, got, m, want)
		}
	}
}
