package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"pingpost/fuzz/powerloss/disk"
	"pingpost/fuzz/powerloss/strace"
	"pingpost/loadtest/refbuyer"
	"pingpost/loadtest/refreceiver"
)

// manner is how a life ends.
type manner string

const (
	orderly manner = "stopped in order"
	killed  manner = "killed"
	dark    manner = "lost its power"
)

// life is a part of a recording, from a start to an end.
type life struct {
	disk         *disk.Disk // of this life and, up to a loss of power, those around it
	truth        *truth
	acks         []ack
	from, to     int // ticks
	ticks        []int
	rare         []int  // those at which something other than the log's last segment changed
	config       string // file that it ended with
	end          manner
	calls        int
	erasedBefore int // erasures told in lives before it
	needBefore   uint64
	revision     int // that was acknowledged before it
}

// recording is one exchange over several lives, in one folder.
type recording struct {
	program  string // the exchange, shortened
	folder   string // with exchange.json and data in it
	chance   *rand.Rand
	crowd    *crowd
	door     *door
	hooks    string
	ends     map[string]string  // buyers' endpoints
	stop     context.CancelFunc // of those that the exchange speaks to
	revision int
	ctx      context.Context
	gone     map[string]bool // leads that were erased, or may be
	erased   int             // erasures that were told
	lives    []*life
	disk     *disk.Disk
	tick     int
	needed   uint64 // entry
	accepted int    // revision
	say      func(format string, args ...any)
}

func (r *recording) data() string   { return filepath.Join(r.folder, "data") }
func (r *recording) config() string { return filepath.Join(r.folder, "exchange.json") }

// record makes a recording of lives that end so. It is to be closed, also where there
// is an error.
func record(ctx context.Context, program, folder string, ends []manner, seed uint64, say func(string, ...any)) (*recording, error) {
	r := &recording{
		program: program, folder: folder, chance: rand.New(rand.NewPCG(seed, 0)), door: newDoor(), ends: map[string]string{}, tick: 2, say: say,
	}
	r.crowd = gather(r.door)
	ctx, r.stop = context.WithCancel(ctx)
	r.ctx, r.gone = ctx, map[string]bool{}
	if err := r.surround(ctx, seed); err != nil {
		return r, err
	}
	if err := os.MkdirAll(r.data(), 0o700); err != nil {
		return r, err
	}
	var err error
	if r.disk, err = disk.Load(r.data()); err != nil {
		return r, err
	}
	if err := r.configure(); err != nil {
		return r, err
	}
	for n, end := range ends {
		if err := r.live(ctx, n, end); err != nil {
			return r, fmt.Errorf("life %d: %w", n+1, err)
		}
	}
	r.crowd.dismiss()
	r.crowd.stop = nil
	if wrong := r.crowd.ledger.wrong(); len(wrong) > 0 {
		return r, errors.New(strings.Join(wrong[:min(len(wrong), 5)], "\n"))
	}
	return r, nil
}

// close ends those that the exchange spoke to.
func (r *recording) close() {
	if r.crowd.stop != nil {
		r.crowd.dismiss()
	}
	r.stop()
}

// surround starts those that the exchange speaks to.
func (r *recording) surround(ctx context.Context, seed uint64) error {
	bid, err := refbuyer.ParsePricing("4-12")
	if err != nil {
		return err
	}
	for i, id := range posting {
		options := refbuyer.Options{Seed: seed + uint64(i), Bid: bid, Token: buyerToken, Latency: refbuyer.Uniform{Min: time.Millisecond, Max: 8 * time.Millisecond}}
		if id == "buy_flaky" {
			options.FailRate, options.NoBidRate = 0.1, 0.2
		} else {
			options.RejectRate = 0.25
		}
		buyer, err := refbuyer.New(options)
		if err != nil {
			return err
		}
		r.ends[id] = "http://" + buyer.Addr().String()
		go func() { _ = buyer.Serve(ctx) }() // that it failed, the exchange would tell
	}
	receiver, err := refreceiver.New(refreceiver.Options{Secret: hookSecret, Seed: seed, FailRate: 0.1})
	if err != nil {
		return err
	}
	r.hooks = "http://" + receiver.Addr().String()
	go func() { _ = receiver.Serve(ctx) }()
	return nil
}

// configure writes the present revision of the configuration, and its lists.
func (r *recording) configure() error {
	list := filepath.Join(r.folder, fmt.Sprintf("list_%d.txt", r.revision))
	return errors.Join(os.WriteFile(list, listed(r.revision), 0o600), os.WriteFile(r.config(), document(r.ends, r.hooks, r.revision), 0o600))
}

// live records one life.
func (r *recording) live(ctx context.Context, number int, end manner) error {
	trace := filepath.Join(r.folder, fmt.Sprintf("life-%d.strace", number))
	p, err := begin(ctx, r.program, r.folder, trace)
	if err != nil {
		return err
	}
	if r.chance.IntN(5) == 0 && number > 0 && end != orderly { // it does not always come to serve
		time.Sleep(time.Duration(20+r.chance.IntN(400)) * time.Millisecond)
	} else if err := r.serve(ctx, p, number); err != nil {
		return errors.Join(err, p.end(syscall.SIGKILL))
	}
	signal := syscall.SIGKILL
	if end == orderly {
		signal = syscall.SIGTERM
	}
	if err := p.end(signal); err != nil {
		return err
	}
	r.door.set("")
	l, err := r.follow(trace, end)
	if err != nil {
		return err
	}
	r.lives = append(r.lives, l)
	r.say("life %d %s: %d calls, %d entries, %d told", number+1, end, l.calls, len(l.truth.entries), len(l.acks))
	if end == dark {
		return r.darken(l)
	}
	return nil
}

// serve lets the exchange work for a while.
func (r *recording) serve(ctx context.Context, p *process, number int) error {
	if err := p.ready(); err != nil {
		return err
	}
	if number == 0 {
		for _, id := range reporting {
			token, err := p.token(ctx, id, "webhook")
			if err != nil {
				return err
			}
			r.crowd.tokens[id] = token
		}
		token, err := p.token(ctx, clientID, "ping post")
		if err != nil {
			return err
		}
		r.crowd.tokens[clientID] = token
		r.crowd.work(ctx, r.chance.Uint64())
	}
	r.door.set(p.public)
	for range 1 + r.chance.IntN(3) {
		time.Sleep(time.Duration(150+r.chance.IntN(500)) * time.Millisecond)
		r.revision++
		if err := r.configure(); err != nil {
			return err
		}
		if err := p.apply(ctx, document(r.ends, r.hooks, r.revision)); err != nil {
			return err
		}
		if err := r.erase(p); err != nil {
			return err
		}
	}
	time.Sleep(time.Duration(r.chance.IntN(400)) * time.Millisecond)
	return nil
}

// follow reads what was recorded, and holds the model against the real folder.
func (r *recording) follow(trace string, end manner) (*life, error) {
	file, err := os.Open(trace)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	calls, last, err := strace.Read(file, r.tick)
	if err != nil {
		return nil, err
	}
	l := &life{disk: r.disk, from: r.tick, to: last, end: end, needBefore: r.needed, revision: r.accepted, erasedBefore: r.erased, config: string(document(r.ends, r.hooks, r.revision))}
	r.tick = last + 2
	before := r.disk.Calls()
	if err := r.disk.Follow(calls, last); err != nil {
		return nil, err
	}
	if err := r.disk.Compare(); err != nil {
		return nil, err
	}
	l.calls = r.disk.Calls() - before
	l.ticks, l.rare = r.disk.Moments(l.from)
	if l.acks, err = acks(calls); err != nil {
		return nil, err
	}
	if l.truth, err = readTruth(r.data()); err != nil {
		return nil, err
	}
	if err := l.prove(); err != nil {
		return nil, err
	}
	if end == dark {
		l.to = r.nightfall(l)
		r.crowd.ledger.forget(l.acks, l.to)
	}
	r.needed, r.accepted = l.needs(l.to)
	r.erased = l.erasures(l.to)
	return l, os.Remove(trace)
}

// nightfall is when the power went in a life that ends so: at one of the last
// instants at which something was under way. What was told after it never was.
func (r *recording) nightfall(l *life) int {
	ticks := slices.Sorted(slices.Values(l.ticks))
	if len(ticks) == 0 {
		return l.to
	}
	last := ticks[len(ticks)-min(len(ticks), 200):]
	return last[r.chance.IntN(len(last))]
}

// prove sees that what this life told is in its log, and nothing twice. That is no
// word on power yet: the page cache has it all.
func (l *life) prove() error {
	wrong := append([]string(nil), l.truth.facts.twice...)
	for i := range l.acks {
		if _, err := l.truth.facts.needs(&l.acks[i]); err != nil && l.acks[i].revision < 0 {
			wrong = append(wrong, err.Error())
		}
	}
	if uint64(len(l.truth.entries)) < l.needBefore {
		wrong = append(wrong, fmt.Sprintf("the log has %d entries, and lives before it told of %d", len(l.truth.entries), l.needBefore))
	}
	if len(wrong) > 0 {
		return fmt.Errorf("without any loss of power: %s", strings.Join(wrong[:min(len(wrong), 10)], "\n"))
	}
	return nil
}

// darken takes the power: the next life begins with what is left.
func (r *recording) darken(l *life) error {
	image := r.disk.Lose(l.to, r.chance)
	if err := errors.Join(os.RemoveAll(r.data()), image.Write(r.data())); err != nil {
		return err
	}
	r.say("what is left: %s", image)
	var err error
	r.disk, err = disk.Load(r.data())
	return err
}
