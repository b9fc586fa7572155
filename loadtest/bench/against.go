package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"pingpost/loadtest/bench/child"
	"pingpost/loadtest/load"
)

// against compares the exchange with another build of it, for example of an earlier
// revision, instead of the ceilings. It writes the samples of both in the format of Go
// benchmarks and no table. loadtest/compare.sh judges the samples.
func (b *bench) against() error {
	theirs, err := filepath.Abs(b.flags.Against)
	if err != nil {
		return err
	}
	if _, err := b.build(); err != nil {
		return err
	}
	other := *b
	other.exchange, other.dir = theirs, filepath.Join(b.dir, "theirs")
	var lines [2]strings.Builder // ours and theirs
	for _, compare := range []func(theirs *bench, lines *[2]strings.Builder) error{b.ingestAgainst, b.auctionsAgainst} {
		err := compare(&other, &lines)
		b.killServers()
		if err != nil {
			return err
		}
	}
	if err := os.WriteFile(b.flags.Samples, []byte(lines[0].String()), 0o644); err != nil {
		return err
	}
	return os.WriteFile(b.flags.TheirSamples, []byte(lines[1].String()), 0o644)
}

func (b *bench) ingestAgainst(other *bench, lines *[2]strings.Builder) error {
	mine, err := b.startPaused("ingest", catalogWithCampaigns(10))
	if err != nil {
		return err
	}
	its, err := other.startPaused("ingest", catalogWithCampaigns(10))
	if err != nil {
		return err
	}
	for _, connections := range b.size.connections {
		both, err := b.sendInTurn(connections, mine, its)
		if err != nil {
			return err
		}
		writeSamples(lines, fmt.Sprintf("BenchmarkIngest/connections=%d", connections), "leads", both...)
	}
	return nil
}

// auctionsAgainst measures auctions with the fewest and the most buyers at both
// exchanges. Each exchange has its own buyers.
func (b *bench) auctionsAgainst(other *bench, lines *[2]strings.Builder) error {
	sizes := []int{b.size.auctionBuyers[0], b.size.auctionBuyers[len(b.size.auctionBuyers)-1]}
	spec := &auctionSetupSpec{name: "auctions", sizes: sizes, pingRate: unlimitedRate}
	mine, err := b.newAuctionSetup(spec)
	if err != nil {
		return err
	}
	its, err := other.newAuctionSetup(spec)
	if err != nil {
		return err
	}
	for _, n := range sizes {
		spec := child.LoadSpec{Vertical: verticalOf(n), Warmup: b.size.warmup, Duration: b.size.duration}
		one := func(h *auctionSetup) func() (child.LoadResult, error) {
			return rerunWhileNoisy(b.guard, func() (child.LoadResult, error) { return h.runSeller(h.exchange, spec) })
		}
		both, err := alternate(b.size.runs, one(mine), one(its))
		if err != nil {
			return err
		}
		writeSamples(lines, fmt.Sprintf("BenchmarkAuction/buyers=%d", n), "auctions", both...)
	}
	return nil
}

// writeSamples appends the runs of both sides in the format of Go benchmarks. The CPU time is that
// of the server. Allocations are measured for auctions only.
func writeSamples(lines *[2]strings.Builder, name, unit string, sides ...[]child.LoadResult) {
	for side, runs := range sides {
		for i := range runs {
			r := &runs[i]
			fmt.Fprintf(&lines[side], "%s 1 %.0f cpu-ns/op %d p50-ns/op %d p99-ns/op %.0f %s/s", name, 1e9*r.ServerSecondsEach(), r.Latency.P50, r.Latency.P99, r.Rate, unit)
			if r.Objects > 0 {
				fmt.Fprintf(&lines[side], " %.1f allocs/op", r.Objects)
			}
			lines[side].WriteByte('\n')
		}
	}
}

// prebid compares the CPU time of an auction with that of prebid-server, which is built from the checkout in
// flags.Prebid: once with its default settings, and once tuned for this load. Without a checkout it returns no rows.
func (b *bench) prebid() (rows []row, err error) {
	if b.flags.Prebid == "" {
		if slices.Contains(b.flags.Only, "prebid") {
			return nil, errors.New("--only prebid needs --prebid, a checkout of github.com/prebid/prebid-server")
		}
		return nil, nil
	}
	asked, err := b.startBuyers(child.BuyersSpec{Buyers: slices.Max(b.size.auctionBuyers), OpenRTB: true})
	if err != nil {
		return nil, err
	}
	// By default it keeps ten idle connections to a bidder. So it closes most connections of 64 auctions at a time.
	tuned := object{"max_idle_connections": 10_000, "max_idle_connections_per_host": 1_000}
	var theirs [2]*process
	for i, client := range []object{{}, tuned} {
		if theirs[i], err = b.startPrebid(fmt.Sprintf("prebid-%d", i), client, asked.Buyers); err != nil {
			return nil, err
		}
	}
	h, err := b.newAuctionSetup(&auctionSetupSpec{name: "auctions", sizes: b.size.auctionBuyers, pingRate: unlimitedRate})
	if err != nil {
		return nil, err
	}
	for _, n := range b.size.auctionBuyers {
		more, err := b.prebidRows(h, theirs, n)
		if err != nil {
			return nil, err
		}
		rows = append(rows, more...)
	}
	return rows, nil
}

// prebidRows measures auctions of n buyers at the exchange, and at prebid-server with default settings and tuned.
func (b *bench) prebidRows(h *auctionSetup, theirs [2]*process, n int) ([]row, error) {
	ours := child.LoadSpec{Vertical: verticalOf(n), Warmup: b.size.warmup, Duration: b.size.duration}
	its := child.LoadSpec{Bidders: n, Connections: auctionConnections, Warmup: b.size.warmup, Duration: b.size.duration}
	at := func(p *process) func() (child.LoadResult, error) {
		return rerunWhileNoisy(b.guard, func() (r child.LoadResult, err error) {
			return r, p.whileResumed(func() error {
				r, err = b.runLoadClient(p, its, &h.next)
				return err
			})
		})
	}
	atExchange := rerunWhileNoisy(b.guard, func() (child.LoadResult, error) { return h.runSeller(h.exchange, ours) })
	all, err := alternate(b.size.runs, atExchange, at(theirs[0]), at(theirs[1]))
	if err != nil {
		return nil, err
	}
	micros := func(r *child.LoadResult) float64 { return 1e6 * r.ServerSecondsEach() }
	what := fmt.Sprintf("auction, buyers asked %d: processor time of prebid-server with ", n)
	exchange := collect(all[0], micros)
	plain := timesRow(what+"default settings over the exchange's", collect(all[1], micros), exchange, "%.0f and %.1f µs").withLeast("9 times", 9)
	return []row{plain, timesRow(what+gcSetting+" and idle connections for all auctions over the exchange's", collect(all[2], micros), exchange, "%.0f and %.1f µs")}, nil
}

// startPrebid builds prebid-server and starts it with some bidders, paused. client has its settings for connections
// to bidders. If there are any, it also has the settings of the other servers of the benchmark.
func (b *bench) startPrebid(name string, client object, bidders []string) (*process, error) {
	dir, err := b.folder(name)
	if err != nil {
		return nil, err
	}
	program := filepath.Join(dir, "prebid-server")
	build := exec.CommandContext(b.ctx, "go", "build", "-trimpath", "-o", program, ".")
	build.Dir = b.flags.Prebid
	if output, err := build.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("cannot build prebid-server: %w\n%s", err, output)
	}
	listen, err := b.configurePrebid(dir, client, bidders)
	if err != nil {
		return nil, err
	}
	p := &process{cmd: exec.CommandContext(b.ctx, program), ended: make(chan struct{}), Addresses: child.Addresses{Listen: listen}}
	p.cmd.Dir = dir
	if len(client) > 0 {
		p.cmd.Env = append(os.Environ(), gcSetting, fmt.Sprintf("GOMAXPROCS=%d", len(b.cores.servers)+1))
	}
	if err := startOn(p.cmd, b.cores.servers); err != nil {
		return nil, err
	}
	b.guard.own = append(b.guard.own, p)
	go func() {
		defer close(p.ended)
		_ = p.cmd.Wait() // it was killed, or the next request fails
	}()
	for began := time.Now(); ; time.Sleep(100 * time.Millisecond) {
		answer, err := http.Get("http://" + listen + "/status")
		if err == nil {
			return p, errors.Join(answer.Body.Close(), pause(p.cmd.Process))
		}
		if p.hasEnded() || time.Since(began) > time.Minute {
			return nil, fmt.Errorf("prebid-server did not start serving: %w", err)
		}
	}
}

// configurePrebid writes the files that prebid-server reads from its working directory, and returns its address. All
// settings are the defaults except for client and for those that reach the network.
// Its bidders are aliases of one adapter that sends OpenRTB unchanged, each with an address of its own.
func (b *bench) configurePrebid(dir string, client object, bidders []string) (listen string, err error) {
	const adapter, info = "automatad", "bidder-info"
	from, to := filepath.Join(b.flags.Prebid, "static"), filepath.Join(dir, "static")
	for _, name := range []string{"bidder-params", "category-mapping"} {
		if err := os.CopyFS(filepath.Join(to, name), os.DirFS(filepath.Join(from, name))); err != nil {
			return "", err
		}
	}
	text, err := os.ReadFile(filepath.Join(from, info, adapter+".yaml"))
	if err != nil {
		return "", err
	}
	files := map[string]string{adapter: string(text)}
	for i, addr := range bidders {
		files[fmt.Sprintf("%s%d", load.OpenRTBBidder, i+1)] = fmt.Sprintf("aliasOf: %s\nendpoint: http://%s/openrtb\n", adapter, addr)
	}
	if err := os.MkdirAll(filepath.Join(to, info), 0o755); err != nil {
		return "", err
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(to, info, name+".yaml"), []byte(text), 0o600); err != nil {
			return "", err
		}
	}
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer free.Close()
	at := free.Addr().(*net.TCPAddr)
	config, err := json.Marshal(object{
		"host": at.IP.String(), "port": at.Port, "admin": object{"enabled": false},
		"gdpr":               object{"enabled": false, "default_value": "0"},
		"currency_converter": object{"fetch_url": "", "fetch_interval_seconds": 0},
		"http_client":        client,
	})
	if err != nil {
		return "", err
	}
	return at.String(), os.WriteFile(filepath.Join(dir, "pbs.json"), config, 0o600)
}
