package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"

	"pingpost/fuzz/witness"
	"pingpost/wal"
)

// Of each point that the program itself is started at: how many answers are asked
// for again, and how many leads are sent.
const (
	askedAgain = 12
	sentThen   = 3
)

// serveAgain starts the program on what is left at a point, or on what it restores of
// its backup where the exchange's own disk is lost altogether. What was told before is
// told again, new leads are taken, all of it verifies, and is in the backup.
func (r *recording) serveAgain(ctx context.Context, p point, folder string, sum *losses) error {
	sum.served++
	if err := r.settle(p, folder); err != nil {
		return err
	}
	l := r.lives[p.life]
	until := p.tick
	if upTo := shippedUpTo(l.rounds, p.tick); upTo > 0 && sum.lost*2 < sum.served {
		sum.lost++
		until = upTo
		if err := errors.Join(os.RemoveAll(dataIn(folder)), r.run(ctx, "restore", "--from", storeIn(folder), "--key-file", identityIn(folder), "--data-dir", dataIn(folder))); err != nil {
			return r.keep(p, err)
		}
	}
	if err := os.WriteFile(filepath.Join(folder, "exchange.json"), []byte(withReport(l.config)), 0o600); err != nil {
		return err
	}
	server, err := begin(ctx, r.program, folder, "")
	if err != nil {
		return err
	}
	if err := server.ready(); err != nil {
		return r.keep(p, err)
	}
	if err := r.worksOf(ctx, server, p.life, until); err != nil {
		return r.keep(p, errors.Join(err, server.end(syscall.SIGTERM)))
	}
	fresh, err := r.speak(ctx, p, until, server.public)
	if err := errors.Join(err, server.sumsUp(ctx, folder), server.end(syscall.SIGTERM)); err != nil {
		return r.keep(p, err)
	}
	if err := errors.Join(r.mendsReport(ctx, p, folder), r.verifies(ctx, folder), r.remembers(l, until, dataIn(folder), fresh)); err != nil {
		return r.keep(p, err)
	}
	return nil
}

// verifies sees that log and backup are whole, and the backup is of the whole log.
func (r *recording) verifies(ctx context.Context, folder string) error {
	err := errors.Join(r.run(ctx, "log", "verify", dataIn(folder)), r.run(ctx, "backup", "verify", "--from", storeIn(folder), "--key-file", identityIn(folder)))
	if err != nil {
		return err
	}
	s, err := r.openSpare(folder)
	if err != nil {
		return err
	}
	reader, err := wal.NewReader(dataIn(folder), 0)
	if err != nil {
		return err
	}
	defer reader.Close()
	return s.holds(ctx, reader)
}

// run has the program do something that it must not fail in.
func (r *recording) run(ctx context.Context, args ...string) error {
	if said, err := exec.CommandContext(ctx, r.program, args...).CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", strings.Join(args[:2], " "), err, said)
	}
	return nil
}

// settle puts what is left, with the configuration of then, into a folder.
func (r *recording) settle(p point, folder string) error {
	l := r.lives[p.life]
	err := errors.Join(os.RemoveAll(folder), l.lose(&p).write(folder), copyKey(r.folder, folder),
		os.WriteFile(filepath.Join(folder, "exchange.json"), []byte(l.config), 0o600))
	for n := range r.revision + 1 {
		err = errors.Join(err, os.WriteFile(filepath.Join(folder, fmt.Sprintf("list_%d.txt", n)), listed(n), 0o600))
	}
	return err
}

// speak asks for answers again, and sends leads, whose requests it returns.
func (r *recording) speak(ctx context.Context, p point, until int, address string) (fresh []string, err error) {
	door := witness.NewLocator()
	door.Publish(address)
	chance := rand.New(rand.NewPCG(p.seed, 1))
	d := r.crowd.desk(door, "later", chance)
	defer d.Close()
	known := r.toldBefore(p.life, until)
	chance.Shuffle(len(known), func(i, j int) { known[i], known[j] = known[j], known[i] })
	for _, old := range known[:min(len(known), askedAgain)] {
		a, ok := d.Send(ctx, old.Request)
		if why := old.differs(a); !ok || why != "" {
			return nil, fmt.Errorf("after the loss: %s", why)
		}
	}
	for n := range sentThen {
		lead := d.person(campaigns[n%len(campaigns)])
		a, ok := d.Send(ctx, &witness.Request{Path: "/api/v1/ingest", Key: fmt.Sprintf("later-%d-%d", p.seed, n), Body: encode(lead)})
		if !ok || a.Status != http.StatusCreated {
			return nil, fmt.Errorf("a lead that comes after the loss is answered %d %s", a.Status, a.Body)
		}
		fresh = append(fresh, a.RequestID)
	}
	return fresh, nil
}

// toldBefore are the orders that were answered up to a tick of a life.
func (r *recording) toldBefore(life, tick int) (known []*told) {
	for _, l := range r.lives[:life+1] {
		for i := range l.acks {
			if l.acks[i].tick > tick || l.acks[i].request == "" {
				continue
			}
			if t := r.crowd.ledger.of(l.acks[i].request); t != nil {
				known = append(known, t)
			}
		}
	}
	return known
}

// remembers sees that what was told up to a tick is where it was, and the new leads
// behind it.
func (r *recording) remembers(l *life, tick int, dir string, fresh []string) error {
	now, err := readTruth(dir)
	if err != nil {
		return err
	}
	for i := range l.promised(tick).entry {
		if i >= uint64(len(now.entries)) || !bytes.Equal(now.entries[i].Data, l.truth.entries[i].Data) {
			return fmt.Errorf("entry %d, which was told of, is gone when the exchange has served", i+1)
		}
	}
	for _, request := range fresh {
		if now.facts.requests[request] == 0 {
			return fmt.Errorf("request %s came after the loss, and is in no entry", request)
		}
	}
	if len(now.facts.twice) > 0 {
		return errors.New(strings.Join(now.facts.twice, "; "))
	}
	return nil
}
