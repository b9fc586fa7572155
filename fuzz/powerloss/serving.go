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

// Number of repeated requests, and of new leads, for each started exchange.
const (
	repeatedRequests = 12
	newLeads         = 3
)

// checkServing starts the program on the content at a point, or on a restored backup after a
// total loss of its disk. Earlier answers must be repeated and new leads accepted, and log and
// backup must verify.
func (r *recording) checkServing(ctx context.Context, p lossPoint, folder string, sum *lossStats) error {
	sum.served++
	if err := r.prepareFolder(p, folder); err != nil {
		return err
	}
	l := r.lifetimes[p.lifetime]
	until := p.tick
	if upTo := lastBackedUpTick(l.backupRounds, p.tick); upTo > 0 && sum.restored*2 < sum.served {
		sum.restored++
		until = upTo
		if err := errors.Join(os.RemoveAll(dataDir(folder)), r.runProgram(ctx, "restore", "--from", backupDir(folder), "--key-file", identityFile(folder), "--data-dir", dataDir(folder))); err != nil {
			return r.keepFailure(p, err)
		}
	}
	if err := os.WriteFile(filepath.Join(folder, "exchange.json"), []byte(enableReport(l.config)), 0o600); err != nil {
		return err
	}
	server, err := startProcess(ctx, r.program, folder, "", backupFlags(folder)...)
	if err != nil {
		return err
	}
	if err := server.awaitServing(); err != nil {
		return r.keepFailure(p, err)
	}
	if err := r.checkCreatedObjects(ctx, server, p.lifetime, until); err != nil {
		return r.keepFailure(p, errors.Join(err, server.stop(syscall.SIGTERM)))
	}
	newRequestIDs, err := r.checkAnswers(ctx, p, until, server.public)
	if err := errors.Join(err, server.checkReport(ctx, folder), server.stop(syscall.SIGTERM)); err != nil {
		return r.keepFailure(p, err)
	}
	if err := errors.Join(r.checkReportRepair(ctx, p, folder), r.verifyFolder(ctx, folder), r.checkLogAfterServing(l, until, dataDir(folder), newRequestIDs)); err != nil {
		return r.keepFailure(p, err)
	}
	return nil
}

// verifyFolder checks that log and backup are intact, and that the backup has the whole log.
func (r *recording) verifyFolder(ctx context.Context, folder string) error {
	err := errors.Join(r.runProgram(ctx, "log", "verify", dataDir(folder)), r.runProgram(ctx, "backup", "verify", "--from", backupDir(folder), "--key-file", identityFile(folder)))
	if err != nil {
		return err
	}
	s, err := r.openBackup(folder)
	if err != nil {
		return err
	}
	reader, err := wal.NewReader(dataDir(folder), 0)
	if err != nil {
		return err
	}
	defer reader.Close()
	return s.compareWithLog(ctx, reader)
}

// runProgram runs a command of the program that must succeed.
func (r *recording) runProgram(ctx context.Context, args ...string) error {
	if said, err := exec.CommandContext(ctx, r.program, args...).CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", strings.Join(args[:2], " "), err, said)
	}
	return nil
}

// prepareFolder writes the content at a point, with the configuration of that lifetime, into a
// folder.
func (r *recording) prepareFolder(p lossPoint, folder string) error {
	l := r.lifetimes[p.lifetime]
	err := errors.Join(os.RemoveAll(folder), l.losePower(&p).write(folder), copyBackupKey(r.folder, folder),
		os.WriteFile(filepath.Join(folder, "exchange.json"), []byte(l.config), 0o600))
	for n := range r.revision + 1 {
		err = errors.Join(err, os.WriteFile(filepath.Join(folder, fmt.Sprintf("list_%d.txt", n)), suppressionListContent(n), 0o600))
	}
	return err
}

// checkAnswers repeats earlier requests, and sends new leads. It returns the ids of the new
// requests.
func (r *recording) checkAnswers(ctx context.Context, p lossPoint, untilTick int, publicURL string) (newRequestIDs []string, err error) {
	locator := witness.NewLocator()
	locator.Publish(publicURL)
	random := rand.New(rand.NewPCG(p.seed, 1))
	d := r.clients.newWorker(locator, "later", random)
	defer d.Close()
	known := r.answeredUpTo(p.lifetime, untilTick)
	random.Shuffle(len(known), func(i, j int) { known[i], known[j] = known[j], known[i] })
	for _, old := range known[:min(len(known), repeatedRequests)] {
		a, ok := d.Send(ctx, old.Request)
		if why := old.difference(a); !ok || why != "" {
			return nil, fmt.Errorf("repeated request after the power loss: %s", why)
		}
	}
	for n := range newLeads {
		lead := d.newLead(campaigns[n%len(campaigns)])
		a, ok := d.Send(ctx, &witness.Request{Path: "/api/v1/ingest", Key: fmt.Sprintf("later-%d-%d", p.seed, n), Body: witness.Encode(lead)})
		if !ok || a.Status != http.StatusCreated {
			return nil, fmt.Errorf("a new lead after the power loss was answered %d %s", a.Status, a.Body)
		}
		newRequestIDs = append(newRequestIDs, a.RequestID)
	}
	return newRequestIDs, nil
}

// answeredUpTo returns the requests that were answered up to a tick of a lifetime.
func (r *recording) answeredUpTo(life, tick int) (known []*answeredRequest) {
	for _, l := range r.lifetimes[:life+1] {
		for i := range l.acks {
			if l.acks[i].tick > tick || l.acks[i].request == "" {
				continue
			}
			if t := r.clients.answers.findByRequestID(l.acks[i].request); t != nil {
				known = append(known, t)
			}
		}
	}
	return known
}

// checkLogAfterServing checks that the log still has the promised entries, and the new leads after them.
func (r *recording) checkLogAfterServing(l *lifetime, tick int, dir string, newRequestIDs []string) error {
	now, err := readWrittenLog(dir)
	if err != nil {
		return err
	}
	for i := range l.promisesAt(tick).seq {
		if i >= uint64(len(now.entries)) || !bytes.Equal(now.entries[i].Data, l.log.entries[i].Data) {
			return fmt.Errorf("entry %d, on which an output relied, is missing after the restart", i+1)
		}
	}
	for _, request := range newRequestIDs {
		if now.index.seqByRequest[request] == 0 {
			return fmt.Errorf("request %s after the power loss is in no entry", request)
		}
	}
	if len(now.index.duplicates) > 0 {
		return errors.New(strings.Join(now.index.duplicates, "; "))
	}
	return nil
}
