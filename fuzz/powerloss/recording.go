package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
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

// ending is the way in which a lifetime ends.
type ending string

const (
	stoppedInOrder ending = "stopped in order"
	killed         ending = "killed"
	lostPower      ending = "lost its power"
)

// lifetime is a part of a recording, from a start of the exchange to its end.
type lifetime struct {
	disks                                // since the last power loss
	log                                  *writtenLog
	acks                                 []ack
	backupRounds                         []backupRound
	firstTick, lastTick                  int         // first and last tick
	dataTicks, backupTicks               activeTicks // of the data directory and of the backup
	config                               string      // the last configuration
	ending                               ending
	calls                                int
	promisesBefore, backupPromisesBefore promises // promises of earlier lifetimes
}

// recording is one exchange over several lifetimes, in one folder.
type recording struct {
	disks
	program        string // the exchange with shorter limits
	folder         string // holds exchange.json, the data directory, and the backup's disk
	random         *rand.Rand
	clients        *clients
	locator        *witness.Locator
	webhookURL     string
	buyerURLs      map[string]string  // URLs by buyer
	stop           context.CancelFunc // stops the peers
	revision       int
	objectCount    int // objects that operators created
	ctx            context.Context
	erased         map[string]bool // leads with a requested erasure
	lifetimes      []*lifetime
	tick           int
	promises       promises
	backupPromises promises
	logf           func(format string, args ...any)
}

func (r *recording) configFile() string { return filepath.Join(r.folder, "exchange.json") }

// makeRecording records lifetimes with the given endings. The caller closes the recording, also
// after an error.
func makeRecording(ctx context.Context, program, folder string, endings []ending, seed uint64, logf func(string, ...any)) (*recording, error) {
	r, err := startRecording(ctx, program, folder, seed, logf)
	if err != nil {
		return r, err
	}
	ctx = r.ctx
	if err := errors.Join(os.MkdirAll(dataDir(folder), 0o700), os.MkdirAll(backupDiskDir(folder), 0o700), makeBackupKey(folder), r.writeConfig()); err != nil {
		return r, err
	}
	if err := r.load(folder); err != nil {
		return r, err
	}
	for n, end := range endings {
		if err := r.recordLifetime(ctx, n, end); err != nil {
			return r, fmt.Errorf("life %d: %w", n+1, err)
		}
	}
	err = r.endClients()
	return r, err
}

// startRecording starts the peers of a recording without lifetimes. The caller closes it, also after an error.
func startRecording(ctx context.Context, program, folder string, seed uint64, logf func(string, ...any)) (*recording, error) {
	r := &recording{
		program: program, folder: folder, random: rand.New(rand.NewPCG(seed, 0)), locator: witness.NewLocator(), buyerURLs: map[string]string{}, tick: 2, logf: logf,
	}
	r.clients = newClients(r.locator)
	r.ctx, r.stop = context.WithCancel(ctx)
	r.erased = map[string]bool{}
	err := r.startPeers(r.ctx, seed)
	return r, err
}

// endClients stops the clients. It returns an error if one of them got a wrong answer.
func (r *recording) endClients() error {
	r.clients.shutDown()
	r.clients.stop = nil
	if wrong := r.clients.answers.violationList(); len(wrong) > 0 {
		return errors.New(strings.Join(wrong[:min(len(wrong), 5)], "\n"))
	}
	return nil
}

// close stops the clients and the peers.
func (r *recording) close() {
	if r.clients.stop != nil {
		r.clients.shutDown()
	}
	r.stop()
}

// startPeers starts the buyers and the webhook receiver.
func (r *recording) startPeers(ctx context.Context, seed uint64) error {
	bid, err := refbuyer.ParsePricing("4-12")
	if err != nil {
		return err
	}
	for i, id := range endpointBuyers {
		options := refbuyer.Options{Seed: seed + uint64(i), Bid: bid, Token: witness.BuyerToken, Latency: refbuyer.Uniform{Min: time.Millisecond, Max: 8 * time.Millisecond}}
		if id == "buy_flaky" {
			options.FailRate, options.NoBidRate = 0.1, 0.2
		} else {
			options.RejectRate = 0.25
		}
		buyer, err := refbuyer.New(options)
		if err != nil {
			return err
		}
		r.buyerURLs[id] = "http://" + buyer.Addr().String()
		go func() { _ = buyer.Serve(ctx) }() // a failure shows in the exchange
	}
	receiver, err := refreceiver.New(refreceiver.Options{Secret: witness.WebhookSecret, Seed: seed, FailRate: 0.1})
	if err != nil {
		return err
	}
	r.webhookURL = "http://" + receiver.Addr().String()
	go func() { _ = receiver.Serve(ctx) }()
	return nil
}

// writeConfig writes the current revision of the configuration, and its lists.
func (r *recording) writeConfig() error {
	list := filepath.Join(r.folder, fmt.Sprintf("list_%d.txt", r.revision))
	return errors.Join(os.WriteFile(list, suppressionListContent(r.revision), 0o600), os.WriteFile(r.configFile(), configDocument(r.buyerURLs, r.webhookURL, r.revision), 0o600))
}

// recordLifetime records one lifetime.
func (r *recording) recordLifetime(ctx context.Context, number int, end ending) error {
	trace := filepath.Join(r.folder, fmt.Sprintf("life-%d.strace", number))
	p, err := startProcess(ctx, r.program, r.folder, trace, backupFlags(r.folder)...)
	if err != nil {
		return err
	}
	if r.random.IntN(5) == 0 && number > 0 && end != stoppedInOrder { // kill the exchange during its start
		time.Sleep(time.Duration(20+r.random.IntN(400)) * time.Millisecond)
	} else if err := r.generateLoad(ctx, p, number); err != nil {
		return errors.Join(err, p.stop(syscall.SIGKILL))
	}
	signal := syscall.SIGKILL
	if end == stoppedInOrder {
		signal = syscall.SIGTERM
	}
	if err := p.stop(signal); err != nil {
		return err
	}
	r.locator.Withdraw()
	l, err := r.readRecord(trace, end)
	if err != nil {
		return err
	}
	r.lifetimes = append(r.lifetimes, l)
	r.logf("life %d %s: %d calls, %d entries, %d acks, reported as backed up to entry %d", number+1, end, l.calls, len(l.log.entries), len(l.acks), r.backupPromises.seq)
	if end == lostPower {
		return r.restartFromLoss(l)
	}
	return nil
}

// startClients fetches the tokens of the clients from a started exchange, and starts the clients.
func (r *recording) startClients(ctx context.Context, publicURL string) error {
	for _, id := range reportingBuyers {
		token, err := witness.FetchToken(ctx, publicURL, id, "webhook")
		if err != nil {
			return err
		}
		r.clients.tokens[id] = token
	}
	token, err := witness.FetchToken(ctx, publicURL, witness.ClientID, "ping", "post")
	if err != nil {
		return err
	}
	r.clients.tokens[witness.ClientID] = token
	r.clients.start(ctx, r.random.Uint64())
	return nil
}

// generateLoad runs requests, configurations, erasures and edits for a while.
func (r *recording) generateLoad(ctx context.Context, p *process, number int) error {
	if err := p.awaitServing(); err != nil {
		return err
	}
	if number == 0 {
		if err := r.startClients(ctx, p.public); err != nil {
			return err
		}
	}
	r.locator.Publish(p.public)
	watched := p.pollMetrics(ctx)
	defer watched()
	for range 1 + r.random.IntN(3) {
		time.Sleep(time.Duration(150+r.random.IntN(500)) * time.Millisecond)
		r.revision++
		if err := r.writeConfig(); err != nil {
			return err
		}
		if _, err := p.adminCall(ctx, http.MethodPut, "/admin/v1/config", string(configDocument(r.buyerURLs, r.webhookURL, r.revision))); err != nil {
			return err
		}
		if err := errors.Join(r.eraseLead(p), r.createObjects(ctx, p)); err != nil {
			return err
		}
	}
	time.Sleep(time.Duration(r.random.IntN(400)) * time.Millisecond)
	return nil
}

// readRecord reads the record and compares the model with the real folder.
func (r *recording) readRecord(traceFile string, end ending) (*lifetime, error) {
	file, err := os.Open(traceFile)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	calls, last, err := strace.ReadRecord(file, r.tick)
	if err != nil {
		return nil, err
	}
	l := &lifetime{
		disks: r.disks, firstTick: r.tick, lastTick: last, ending: end, promisesBefore: r.promises, backupPromisesBefore: r.backupPromises,
		config: string(configDocument(r.buyerURLs, r.webhookURL, r.revision)),
	}
	r.tick = last + 2
	if err := l.replayCalls(calls, last); err != nil {
		return nil, err
	}
	if l.acks, err = parseAcks(calls); err != nil {
		return nil, err
	}
	if l.backupRounds, err = parseBackupRounds(calls); err != nil {
		return nil, err
	}
	if l.log, err = readWrittenLog(dataDir(r.folder)); err != nil {
		return nil, err
	}
	if err := l.checkWithoutLoss(); err != nil {
		return nil, err
	}
	if end == lostPower {
		l.lastTick = r.drawLossTick(l)
		r.clients.answers.forgetAnswersAfter(l.acks, l.lastTick)
	}
	r.promises, r.backupPromises = l.promisesAt(l.lastTick), l.backupPromisesAt(l.lastTick)
	return l, os.Remove(traceFile)
}

// replayCalls applies the calls to both models and compares them with the real folders.
func (l *lifetime) replayCalls(calls []*strace.Call, last int) error {
	for _, one := range []struct {
		disk    *disk.Disk
		moments *activeTicks
	}{{l.data, &l.dataTicks}, {l.backup, &l.backupTicks}} {
		before := one.disk.RelevantCallCount()
		if err := one.disk.ApplyCalls(calls, last); err != nil {
			return err
		}
		if err := one.disk.CompareWithRealFolder(); err != nil {
			return err
		}
		l.calls += one.disk.RelevantCallCount() - before
		one.moments.all, one.moments.rare = one.disk.ActiveTicks(l.firstTick)
	}
	return nil
}

// drawLossTick draws the tick of a power loss: one of the last 200 active ticks. Later acks do
// not count.
func (r *recording) drawLossTick(l *lifetime) int {
	ticks := slices.Sorted(slices.Values(append(slices.Clone(l.dataTicks.all), l.backupTicks.all...)))
	if len(ticks) == 0 {
		return l.lastTick
	}
	last := ticks[len(ticks)-min(len(ticks), 200):]
	return last[r.random.IntN(len(last))]
}

// checkWithoutLoss checks that the log has each ack of this lifetime, and has it once. This
// is no proof about power losses: the page cache is complete.
func (l *lifetime) checkWithoutLoss() error {
	wrong := append([]string(nil), l.log.index.duplicates...)
	for i := range l.acks {
		if made := l.acks[i].created; made != "" {
			if l.log.index.seqByCreated[made] == 0 {
				wrong = append(wrong, "the creation of "+made+" was acknowledged, but is in no entry")
			}
			continue
		}
		if _, err := l.log.index.requiredSeq(&l.acks[i]); err != nil && l.acks[i].revision < 0 {
			wrong = append(wrong, err.Error())
		}
	}
	if uint64(len(l.log.entries)) < l.promisesBefore.seq {
		wrong = append(wrong, fmt.Sprintf("the log has %d entries, but earlier outputs relied on entry %d", len(l.log.entries), l.promisesBefore.seq))
	}
	if len(wrong) > 0 {
		return fmt.Errorf("violations without a power loss: %s", strings.Join(wrong[:min(len(wrong), 10)], "\n"))
	}
	return nil
}

// restartFromLoss takes the power. The next lifetime starts with the remaining content.
func (r *recording) restartFromLoss(l *lifetime) error {
	left := l.losePower(&lossPoint{tick: l.lastTick, seed: r.random.Uint64(), backupIntact: r.random.IntN(2) == 0})
	if err := errors.Join(os.RemoveAll(dataDir(r.folder)), os.RemoveAll(backupDiskDir(r.folder)), left.write(r.folder)); err != nil {
		return err
	}
	r.logf("after the power loss: %s", left)
	return r.load(r.folder)
}
