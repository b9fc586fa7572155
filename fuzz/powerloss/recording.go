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
	"pingpost/fuzz/witness"
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
	disks              // of this life and, up to a loss of power, those around it
	truth              *truth
	acks               []ack
	rounds             []round
	from, to           int     // ticks
	busy, shipping     moments // of the exchange's folder, and of its backup's
	config             string  // file that it ended with
	end                manner
	calls              int
	before, keptBefore promises // told in lives before it, and said to be backed up
}

// recording is one exchange over several lives, in one folder.
type recording struct {
	disks
	program  string // the exchange, shortened
	folder   string // with exchange.json, data, and the backup's place in it
	chance   *rand.Rand
	crowd    *crowd
	door     *witness.Locator
	hooks    string
	ends     map[string]string  // buyers' endpoints
	stop     context.CancelFunc // of those that the exchange speaks to
	revision int
	works    int // of operators
	ctx      context.Context
	gone     map[string]bool // leads that were erased, or may be
	lives    []*life
	tick     int
	told     promises
	kept     promises
	say      func(format string, args ...any)
}

func (r *recording) config() string { return filepath.Join(r.folder, "exchange.json") }

// record makes a recording of lives that end so. It is to be closed, also where there
// is an error.
func record(ctx context.Context, program, folder string, ends []manner, seed uint64, say func(string, ...any)) (*recording, error) {
	r := &recording{
		program: program, folder: folder, chance: rand.New(rand.NewPCG(seed, 0)), door: witness.NewLocator(), ends: map[string]string{}, tick: 2, say: say,
	}
	r.crowd = gather(r.door)
	ctx, r.stop = context.WithCancel(ctx)
	r.ctx, r.gone = ctx, map[string]bool{}
	if err := r.surround(ctx, seed); err != nil {
		return r, err
	}
	if err := errors.Join(os.MkdirAll(dataIn(folder), 0o700), os.MkdirAll(placeIn(folder), 0o700), makeKey(folder), r.configure()); err != nil {
		return r, err
	}
	if err := r.load(folder); err != nil {
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
	r.door.Withdraw()
	l, err := r.follow(trace, end)
	if err != nil {
		return err
	}
	r.lives = append(r.lives, l)
	r.say("life %d %s: %d calls, %d entries, %d told, up to entry %d said to be backed up", number+1, end, l.calls, len(l.truth.entries), len(l.acks), r.kept.entry)
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
		token, err := p.token(ctx, clientID, "ping", "post")
		if err != nil {
			return err
		}
		r.crowd.tokens[clientID] = token
		r.crowd.work(ctx, r.chance.Uint64())
	}
	r.door.Publish(p.public)
	watched := p.watch(ctx)
	defer watched()
	for range 1 + r.chance.IntN(3) {
		time.Sleep(time.Duration(150+r.chance.IntN(500)) * time.Millisecond)
		r.revision++
		if err := r.configure(); err != nil {
			return err
		}
		if err := p.apply(ctx, document(r.ends, r.hooks, r.revision)); err != nil {
			return err
		}
		if err := errors.Join(r.erase(p), r.operate(ctx, p)); err != nil {
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
	l := &life{
		disks: r.disks, from: r.tick, to: last, end: end, before: r.told, keptBefore: r.kept,
		config: string(document(r.ends, r.hooks, r.revision)),
	}
	r.tick = last + 2
	if err := l.follow(calls, last); err != nil {
		return nil, err
	}
	if l.acks, err = acks(calls); err != nil {
		return nil, err
	}
	if l.rounds, err = rounds(calls); err != nil {
		return nil, err
	}
	if l.truth, err = readTruth(dataIn(r.folder)); err != nil {
		return nil, err
	}
	if err := l.prove(); err != nil {
		return nil, err
	}
	if end == dark {
		l.to = r.nightfall(l)
		r.crowd.ledger.forget(l.acks, l.to)
	}
	r.told, r.kept = l.promised(l.to), l.kept(l.to)
	return l, os.Remove(trace)
}

// follow shows the models what was recorded, and holds them against the real folders.
func (l *life) follow(calls []*strace.Call, last int) error {
	for _, one := range []struct {
		disk    *disk.Disk
		moments *moments
	}{{l.data, &l.busy}, {l.place, &l.shipping}} {
		before := one.disk.Calls()
		if err := one.disk.Follow(calls, last); err != nil {
			return err
		}
		if err := one.disk.Compare(); err != nil {
			return err
		}
		l.calls += one.disk.Calls() - before
		one.moments.all, one.moments.rare = one.disk.Moments(l.from)
	}
	return nil
}

// nightfall is when the power went in a life that ends so: at one of the last
// instants at which something was under way. What was told after it never was.
func (r *recording) nightfall(l *life) int {
	ticks := slices.Sorted(slices.Values(append(slices.Clone(l.busy.all), l.shipping.all...)))
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
		if made := l.acks[i].made; made != "" {
			if l.truth.facts.made[made] == 0 {
				wrong = append(wrong, "that an operator made "+made+" was told, and is in no entry")
			}
			continue
		}
		if _, err := l.truth.facts.needs(&l.acks[i]); err != nil && l.acks[i].revision < 0 {
			wrong = append(wrong, err.Error())
		}
	}
	if uint64(len(l.truth.entries)) < l.before.entry {
		wrong = append(wrong, fmt.Sprintf("the log has %d entries, and lives before it told of %d", len(l.truth.entries), l.before.entry))
	}
	if len(wrong) > 0 {
		return fmt.Errorf("without any loss of power: %s", strings.Join(wrong[:min(len(wrong), 10)], "\n"))
	}
	return nil
}

// darken takes the power: the next life begins with what is left.
func (r *recording) darken(l *life) error {
	left := l.lose(&point{tick: l.to, seed: r.chance.Uint64(), spared: r.chance.IntN(2) == 0})
	if err := errors.Join(os.RemoveAll(dataIn(r.folder)), os.RemoveAll(placeIn(r.folder)), left.write(r.folder)); err != nil {
		return err
	}
	r.say("what is left: %s", left)
	return r.load(r.folder)
}
