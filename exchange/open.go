package exchange

import (
	"crypto/rand"
	"errors"
	"fmt"
	"math"
	"net/netip"
	"os"
	"path/filepath"
	"time"

	"pingpost/config"
	"pingpost/engine"
	"pingpost/engine/market"
	"pingpost/engine/state"
	"pingpost/exchange/coldfiles"
	"pingpost/exchange/member"
	"pingpost/internal/durable"
	"pingpost/keys/leadkeys"
	"pingpost/keys/token"
	"pingpost/keys/vault"
	"pingpost/outbound/buyer"
	"pingpost/server/public"
	"pingpost/wal"
)

// prepareToServePublic does all steps of a start before the public address is served: it replays the log,
// opens the keys, begins to decide about requests and starts the background tasks. A node of a cluster
// decides only while it is the leader.
func (x *Exchange) prepareToServePublic(built *config.CompiledDocument) error {
	x.built.Store(built)
	if err := x.openData(); err != nil {
		return err
	}
	if err := x.createShipperAndClaimBackup(); err != nil {
		return err
	}
	x.lastUses.loadIntoState(x)
	x.startTraceExportIfConfigured()
	x.createClientAndServer()
	if x.isClustered() {
		x.cluster.reader.Store(x.newEngine(unwritableLog{}, neverDecides))
	} else {
		if err := x.keys.StartIssuing(x.state.HighestEncryptionKeySlot(), nil); err != nil {
			return err
		}
		if err := x.startDeciding(engineLogAdapter{x.log}, alwaysDecides); err != nil {
			return err
		}
	}
	x.addGauges()
	x.lastUses.startPeriodicSaves(x)
	x.snapshots.start(x)
	x.keyCheck.startInBackground(x)
	x.backupRunner.startShipping(x)
	x.reporter.startIfEnabled(x)
	if x.isClustered() {
		return x.joinCluster()
	}
	return nil
}

// openData opens the data directory: it replays the log and opens the keys. A new node of a cluster first
// copies the data of another node.
func (x *Exchange) openData() error {
	dir := x.settings.DataDir
	if err := createDataDirAndCheckWritable(dir); err != nil {
		return err
	}
	if err := x.prepareClusterData(); err != nil {
		return err
	}
	x.state = state.New()
	if err := x.openAndReplayLog(dir); err != nil {
		return err
	}
	if err := x.alignClockWithLog(); err != nil {
		return err
	}
	founded := x.state.FoundedEvent().Epoch != [16]byte{}
	var err error
	if x.vault, err = vault.OpenExchangeKey(dir, !founded && !x.isClustered()); err != nil {
		return err
	}
	if x.keys, err = leadkeys.OpenWithoutIssuing(dir, deriveChecksumKey(x.vault), x.logLeadKeyMakingResult); err != nil {
		return err
	}
	if x.isClustered() { // a crash may have interrupted an erasure; a single node erases in startDeciding
		if err := x.keys.Erase(x.state.ErasedEncryptionKeySlots()); err != nil {
			return fmt.Errorf("cannot erase the keys of erased leads: %w", err)
		}
	}
	x.tokens = token.New(x.vault.DeriveKey("tokens"))
	x.instructions = x.newPostingInstructionPublisher()
	x.startLogFailureWatcher()
	x.disk.setExpectedSnapshotSize(x.estimateNextSnapshotBytes())
	x.disk.startMeasuring(dir, x.logger, x.ended)
	return nil
}

// createClientAndServer creates the buyers' client and the public server. The server decides about
// requests after startDeciding.
func (x *Exchange) createClientAndServer() {
	x.buyers = buyer.New(buyer.Options{
		Secrets: x.RevealSecret, TrustedNetworks: x.settings.TrustedNetworks, MaxResponse: x.settings.Limits.Answer,
		OnTokenFailure: x.warnOfBuyerTokenFailure, OnExtraAnswer: x.warnOfExtraBuyerAnswers,
	})
	limits := x.settings.Limits
	x.publicServer = public.New(public.Options{
		Clock: x.clock, Logger: x.logger, Meter: x.meter, Traces: x.tracer,
		Tokens: x.tokens, TokenLifetime: x.settings.TokenLifetime, Sandbox: x.settings.Sandbox, Instructions: x.instructions, Name: x.settings.Tenant, Ready: x.AcceptsRequests,
		Body: limits.Body, Header: limits.Header,
		Connections: limits.Connections, MaxConnsPerIP: limits.MaxConnsPerIP,
		ReadTimeout: limits.ReadTimeout, WriteTimeout: limits.WriteTimeout, IdleTimeout: limits.IdleTimeout,
		AuthFailures: limits.AuthFailures, Documents: limits.Documents, TLS: x.certificates.public.tlsConfigOrNil(), Forward: x.cluster.forwarder,
	})
	x.setTrustedProxies(x.settings.TrustedProxies)
}

func (x *Exchange) setTrustedProxies(proxies []netip.Prefix) {
	x.publicServer.SetTrustedProxies(proxies)
	x.adminServer.SetTrustedProxies(proxies)
}

// startDeciding begins to decide about requests: it activates the configuration, continues the open
// deliveries, and starts to send webhooks, alerts and reports by e-mail. The state has all entries of the
// log, and no other node decides. stopDeciding ends it, also after an error.
func (x *Exchange) startDeciding(log engine.Log, mayDecideBy func(deadline time.Time) bool) error {
	e := x.newEngine(log, mayDecideBy)
	x.engine.Store(e)
	if err := e.InitializeLogOrCheckKey(x.vault.KeyFingerprint()); err != nil {
		return err
	}
	if err := x.configureAtStart(); err != nil {
		return err
	}
	if err := e.ResumeErasuresAndDeliveries(); err != nil {
		return err
	}
	x.startWebhookSender()
	x.alerts.start(x)
	x.reportMail.start(x)
	x.publicServer.SetEngine(e)
	return nil
}

// neverDecides is the mayDecideBy of an engine that only reads.
func neverDecides(time.Time) bool { return false }

// alwaysDecides is the mayDecideBy of a single node.
func alwaysDecides(time.Time) bool { return true }

// newEngine returns an engine. It sends to buyers while mayDecideBy returns true.
func (x *Exchange) newEngine(log engine.Log, mayDecideBy func(deadline time.Time) bool) *engine.Engine {
	return engine.New(engine.Options{
		State: x.state, Log: log, History: engineLogAdapter{x.log}, Buyers: engineBuyersAdapter{x.buyers, x.clock, mayDecideBy}, Clock: x.clock, Entropy: fillRandom,
		Sealer: leadKeysForEngine{x.keys, &x.deciding},
		Secret: x.vault.DeriveKey("hashes"), Admit: x.checkDiskLogQueueAndStopping, Observer: x.meter,
		Idempotency: x.settings.Idempotency, PingIdempotency: x.settings.PingIdempotency, Keep: x.settings.History, MaxPosts: maxOpenPosts,
	})
}

// stopDeciding ends the work of startDeciding. It waits for the attempts in progress, and their results are
// logged.
func (x *Exchange) stopDeciding() {
	x.deciding.Store(false)
	x.stopBackgroundSending() // while the engine still logs the results of the last attempts
	if e := x.engine.Load(); e != nil {
		e.Close()
	}
}

// stopBackgroundSending ends the sending of webhooks, alerts and e-mailed reports.
func (x *Exchange) stopBackgroundSending() {
	x.stopWebhookSender()
	x.reportMail.close()
	x.alerts.close()
}

// openAndReplayLog loads the newest snapshot, opens the log and replays the entries after the
// snapshot.
func (x *Exchange) openAndReplayLog(dataDir string) error {
	var b replayStart
	var err error
	x.cold, b, err = loadNewestSnapshot(x.state, coldfiles.Options{DataDir: dataDir, Logger: x.logger, OnDamage: x.stopBecauseOfColdFile})
	if err != nil {
		return err
	}
	x.state.CallOnColdFailure(x.stopBecauseOfColdFile)
	if err := b.checkReplayIsPossible(dataDir); err != nil {
		return err
	}
	from, at := x.state.Position()
	opt := b.logOptions()
	opt.NotBefore, opt.Now, opt.Logger = at, x.clock.Now, x.logger
	opt.QueueLen, opt.QueueBytes = maxLogQueueEntriesAndBytes(&x.settings.Limits)
	syncs := x.meter.AddHistogram(`pingpost_log_sync_seconds`)
	opt.Observe = func(b wal.BatchStats) { syncs.Update(b.Sync.Seconds()) }
	if x.isClustered() {
		if opt.MustReach, err = member.CompactedEntry(dataDir); err != nil {
			return err
		}
		if x.replica, err = wal.OpenReplica(dataDir, opt); err == nil {
			x.log = x.replica.Log
		}
	} else {
		x.log, err = wal.Open(dataDir, opt)
	}
	if errors.Is(err, wal.ErrDamaged) {
		return b.addSnapshotErrors(fmt.Errorf("%w; the command that accepts the loss is: pingpost log accept %s --yes", err, dataDir))
	}
	if err != nil {
		return fmt.Errorf("cannot open the log in %q: %w", dataDir, err)
	}
	if err := x.log.QuarantineSnapshots(b.bad); err != nil {
		return err
	}
	reader, err := x.log.NewReader(from + 1)
	if err != nil {
		return fmt.Errorf("cannot read the log from entry %d on: %w", from+1, err)
	}
	defer reader.Close()
	began := time.Now()
	applied, err := ReplayLog(reader, x.state, 0)
	if err != nil {
		return err
	}
	if b.lacksColdRows != nil {
		if err := x.rebuildColdRows(dataDir, b.lacksColdRows); err != nil {
			return err
		}
	}
	x.snapshots.recordLoadedSnapshot(&b, uint64(reader.RecordBytesRead()))
	if b.lacksColdRows != nil {
		x.snapshots.replayed.Store(math.MaxInt64) // a snapshot is due at once, so that the next start need not rebuild them again
	}
	x.disk.last.Store(b.Bytes)
	x.logger.Info("replayed", "snapshot", b.Newest, "entries", applied, "seconds", time.Since(began).Seconds())
	return nil
}

// Limits for the difference between the wall clock and the log's last entry at a start.
// Time in the log never goes back. One start with a clock that is wrong by years would let
// everything expire for good. After a start with a fast clock, hours and days begin too
// early until the real time catches up.
const (
	maxClockAhead  = 7 * 24 * time.Hour
	maxClockBehind = time.Hour
)

// alignClockWithLog compares the wall clock with the time of the log's last entry at a
// start. If they differ too much, it returns an error, unless Options.AcceptClock is set. If
// the wall clock is behind, it sets the exchange's clock forward to the entry's time, because
// time in the log never goes back.
func (x *Exchange) alignClockWithLog() error {
	seq, at := x.log.LastEntry()
	if seq == 0 {
		return nil
	}
	past := time.Duration(x.clock.Now() - at)
	if err := checkClockNearLastEntry(past, at); err != nil && !x.options.AcceptClock {
		return err
	}
	if behind := x.clock.AdvanceTo(at); behind > time.Second {
		x.logger.Warn("the clock is behind the log's last entry; the exchange's clock continues from that entry and stays ahead until a later start",
			"behind", behind.String(), "log", time.Unix(0, at).UTC(), "clock", time.Unix(0, at).Add(-behind).UTC())
	}
	return nil
}

// checkClockNearLastEntry returns an error if the wall clock is a week or more ahead of the log's
// last entry, or over an hour behind it. clockAhead is the distance, negative if the clock is behind.
// lastEntryNanos is the entry's time in Unix nanoseconds.
func checkClockNearLastEntry(clockAhead time.Duration, lastEntryNanos int64) error {
	logged := time.Unix(0, lastEntryNanos).UTC()
	shows := func() (clock, log string) {
		return logged.Add(clockAhead).Format(time.RFC3339), logged.Format(time.RFC3339)
	}
	switch {
	case clockAhead >= maxClockAhead:
		clock, log := shows()
		return fmt.Errorf("the clock, %s, is %s past the log's last entry, %s; if it is right, start once with --accept-clock, if not, set it",
			clock, clockAhead.Round(time.Hour), log)
	case clockAhead < -maxClockBehind:
		clock, log := shows()
		return fmt.Errorf("the clock, %s, is %s behind the log's last entry, %s; if it is wrong, set it; "+
			"if it is right, the log was written under a wrong one: wait until that time has come, "+
			"or start with --accept-clock, and the exchange's clock goes on from there, ahead of the real one",
			clock, (-clockAhead).Round(time.Minute), log)
	}
	return nil
}

// createDataDirAndCheckWritable creates the data directory and writes a test file, so that a start
// without write permission fails with a clear error.
func createDataDirAndCheckWritable(dataDir string) error {
	if err := durable.MakeFolder(dataDir); err != nil {
		return fmt.Errorf("cannot create data_dir %q: %w", dataDir, err)
	}
	probe := filepath.Join(dataDir, ".probe")
	if err := os.WriteFile(probe, []byte("x"), 0o600); err != nil {
		return fmt.Errorf("data_dir %q cannot be written: %w; give the process its own writable folder", dataDir, err)
	}
	return os.Remove(probe)
}

// startLogFailureWatcher starts a goroutine that sends an error to x.broken if the log fails. The caller of
// Start then closes the exchange, because it cannot accept leads without its log.
func (x *Exchange) startLogFailureWatcher() {
	go func() {
		select {
		case <-x.log.Failed():
			x.broken <- fmt.Errorf("the log failed and accepts no more entries; every acknowledged lead is in it: %w", x.log.Err())
		case <-x.ended:
		}
	}()
}

// RevealSecret returns the value of a stored secret for requests to buyers and suppliers. ok
// is false if the secret does not exist or cannot be decrypted.
//
// The buyers' client sends an OAuth client's secret only to its token endpoint. The webhook
// client never sends its secret.
func (x *Exchange) RevealSecret(name string) (value string, ok bool) {
	sealed, ok := x.state.SealedSecret(name)
	if !ok {
		return "", false
	}
	value, err := x.vault.OpenSecret(name, sealed)
	if err != nil {
		x.logger.Error("cannot decrypt a stored secret; set it again with PUT /admin/v1/secrets/NAME, or change it and run pingpost apply if it is a variable of an address", "name", name, "error", err)
		return "", false
	}
	return value, true
}

// warnOfBuyerTokenFailure warns operators that a buyer's OAuth token endpoint returned no token. The
// client retries with growing pauses, so the warnings become rarer.
func (x *Exchange) warnOfBuyerTokenFailure(secretName string, fault market.OutboundRequestFault, httpStatus int) {
	x.logger.Warn("a buyer's token endpoint returns no token; the exchange sends the buyer no pings and no leads without one", "secret", secretName, "fault", fault, "status", httpStatus)
}

// warnOfExtraBuyerAnswers warns operators of a buyer's endpoint that sent more than one answer to a
// request. The surplus answer could be mistaken for the answer to another lead.
func (x *Exchange) warnOfExtraBuyerAnswers(host string) {
	x.logger.Warn("a buyer's endpoint sends more than one answer to a request; for an hour each of its connections is used only once, because an extra answer would count for the next lead", "host", host)
}

// logLeadKeyMakingResult logs message: as an error if no encryption keys for leads can be
// created, or as information, with a nil err, when they can again.
func (x *Exchange) logLeadKeyMakingResult(message string, err error) {
	switch {
	case err == nil:
		x.logger.Info(message)
	case !engine.IsEndOfLeadership(err): // the next leader makes them
		x.logger.Error(message, "error", err)
	}
}

func fillRandom(p []byte) { _, _ = rand.Read(p) }

// addGauges registers the metrics whose values are computed when they are read, such as the
// number of leads and the free disk space.
func (x *Exchange) addGauges() {
	x.meter.AddGauge(`pingpost_clock_ahead_seconds`, func() float64 { return x.clock.AheadOfWallClock().Seconds() })
	x.meter.AddGauge(`pingpost_config_drift_entries`, func() float64 { return float64(len(x.activeDriftOrNil())) })
	x.meter.AddGauge(`pingpost_reservations`, func() float64 { return float64(x.state.ReservationCount()) })
	x.meter.AddGauge(`pingpost_leads_held`, func() float64 { return float64(x.state.LeadCountWithExpired()) })
	x.meter.AddGauge(`pingpost_cold_leads`, func() float64 { leads, _ := coldfiles.CountLeadsAndBytes(x.state.ColdFiles()); return float64(leads) })
	x.meter.AddGauge(`pingpost_cold_bytes`, func() float64 { _, bytes := coldfiles.CountLeadsAndBytes(x.state.ColdFiles()); return float64(bytes) })
	x.meter.AddGauge(`pingpost_auctions_held`, func() float64 { return float64(x.state.AuctionCountWithExpired()) })
	x.meter.AddGauge(`pingpost_open_deliveries`, func() float64 { return float64(x.countRunningDeliveries()) })
	x.meter.AddGauge(`pingpost_unknown_deliveries`, func() float64 { return float64(x.state.CountUnknownDeliveriesExceptTests()) })
	x.meter.AddGauge(`pingpost_webhooks_pending`, func() float64 { return float64(x.state.OutboxTotals().Pending) })
	x.meter.AddGauge(`pingpost_webhooks_dead`, func() float64 { return float64(x.state.OutboxTotals().Dead) })
	x.meter.AddGauge(`pingpost_webhooks_dropped_total`, func() float64 { return float64(x.state.OutboxTotals().Dropped) })
	x.meter.AddGauge(`pingpost_returns_waiting`, func() float64 { return float64(x.state.PendingReturnCount()) })
	x.meter.AddGauge(`pingpost_log_sequence`, func() float64 { seq, _ := x.log.LastEntry(); return float64(seq) })
	x.meter.AddGauge(`pingpost_log_queued`, func() float64 { entries, _, _ := x.logQueue(); return float64(entries) })
	x.meter.AddGauge(`pingpost_log_bytes`, func() float64 { return float64(x.log.Stats().Bytes) })
	x.meter.AddGauge(`pingpost_log_segments`, func() float64 { return float64(x.log.Stats().Live) })
	x.meter.AddGauge(`pingpost_log_archived_segments`, func() float64 { return float64(x.log.Stats().Archived) })
	x.meter.AddGauge(`pingpost_disk_free_bytes`, func() float64 { return float64(x.disk.free.Load()) })
	x.meter.AddGauge(`pingpost_disk_needed_bytes`, func() float64 { return float64(x.disk.bytesNeededToAcceptLeads()) })
	x.meter.AddGauge(`pingpost_snapshot_sequence`, func() float64 { return float64(x.snapshots.last.Load()) })
}
