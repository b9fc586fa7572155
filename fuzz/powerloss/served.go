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
)

// Of each point that the program itself is started at: how many answers are asked
// for again, and how many leads are sent.
const (
	askedAgain = 12
	sentThen   = 3
)

// serveAgain starts the program on what is left at a point. What was told before
// it is told again, new leads are taken, and all of it verifies.
func (r *recording) serveAgain(ctx context.Context, p point, folder string, sum *losses) error {
	sum.served++
	if err := r.settle(p, folder); err != nil {
		return err
	}
	server, err := begin(ctx, r.program, folder, "")
	if err != nil {
		return err
	}
	if err := server.ready(); err != nil {
		return r.keep(p, err)
	}
	fresh, err := r.speak(ctx, p, server.public)
	if err := errors.Join(err, server.end(syscall.SIGTERM)); err != nil {
		return r.keep(p, err)
	}
	said, err := exec.CommandContext(ctx, r.program, "log", "verify", filepath.Join(folder, "data")).CombinedOutput()
	if err != nil || !strings.HasSuffix(string(said), "good\n") {
		return r.keep(p, fmt.Errorf("the log does not verify: %w: %s", err, said))
	}
	if err := r.remembers(p, filepath.Join(folder, "data"), fresh); err != nil {
		return r.keep(p, err)
	}
	return nil
}

// settle puts what is left, with the configuration of then, into a folder.
func (r *recording) settle(p point, folder string) error {
	err := errors.Join(os.RemoveAll(folder), r.image(p).Write(filepath.Join(folder, "data")),
		os.WriteFile(filepath.Join(folder, "exchange.json"), []byte(r.lives[p.life].config), 0o600))
	for n := range r.revision + 1 {
		err = errors.Join(err, os.WriteFile(filepath.Join(folder, fmt.Sprintf("list_%d.txt", n)), listed(n), 0o600))
	}
	return err
}

// speak asks for answers again, and sends leads, whose requests it returns.
func (r *recording) speak(ctx context.Context, p point, address string) (fresh []string, err error) {
	d := newDoor()
	d.set(address)
	chance := rand.New(rand.NewPCG(p.seed, 1))
	call := newCaller(d, chance)
	defer call.client.CloseIdleConnections()
	known := r.toldBefore(p)
	chance.Shuffle(len(known), func(i, j int) { known[i], known[j] = known[j], known[i] })
	for _, old := range known[:min(len(known), askedAgain)] {
		a, ok := call.send(ctx, old.order)
		if why := old.differs(a); !ok || why != "" {
			return nil, fmt.Errorf("after the loss: %s", why)
		}
	}
	seat := &desk{crowd: r.crowd, caller: call}
	for n := range sentThen {
		lead := seat.person(campaigns[n%len(campaigns)])
		a, ok := call.send(ctx, &order{path: "/api/v1/ingest", key: fmt.Sprintf("later-%d-%d", p.seed, n), body: encode(lead)})
		if !ok || a.status != http.StatusCreated {
			return nil, fmt.Errorf("a lead that comes after the loss is answered %d %s", a.status, a.text)
		}
		fresh = append(fresh, a.request)
	}
	return fresh, nil
}

// toldBefore are the orders that were answered when the power went.
func (r *recording) toldBefore(p point) (known []*told) {
	for _, l := range r.lives[:p.life+1] {
		for i := range l.acks {
			if l.acks[i].tick > p.tick || l.acks[i].request == "" {
				continue
			}
			if t := r.crowd.ledger.of(l.acks[i].request); t != nil {
				known = append(known, t)
			}
		}
	}
	return known
}

// remembers sees that what was told is where it was, and the new leads behind it.
func (r *recording) remembers(p point, dir string, fresh []string) error {
	now, err := readTruth(dir)
	if err != nil {
		return err
	}
	l := r.lives[p.life]
	needed, _ := l.needs(p.tick)
	for i := range needed {
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
