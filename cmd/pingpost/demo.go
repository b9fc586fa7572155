package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"syscall"
	"time"
)

// demoCmd shows a whole exchange at work on this machine.
type demoCmd struct {
	Dir   string  `type:"path" placeholder:"DIR" help:"A new folder for the configuration, the data and the logs (./data/demo-TIME)."`
	Once  bool    `help:"Stop everything when the figures are out. The exit code is 0 only if every lead is accounted for and the buyers' own counts agree."`
	Leads int     `default:"1000" placeholder:"NUMBER" help:"How many leads to send (${default})."`
	Rate  float64 `default:"250" placeholder:"NUMBER" help:"How many a second (${default})."`
	Seed  uint64  `default:"1" placeholder:"NUMBER" help:"Seed of the leads: the same one makes the same leads (${default})."`
}

// Help is what --help says beyond the flags.
func (*demoCmd) Help() string {
	return `Starts an exchange and nine reference buyers, each a process of its own on a
free port of 127.0.0.1, sends leads into four campaigns over HTTP, and prints
what became of them: by campaign, by buyer beside what the buyer itself counted,
by reason, in money and in milliseconds.

Three campaigns know their prices; the fourth holds an auction for each lead,
among six buyers: one is slow, one takes only so many pings a second, one answers
nonsense at times. A seller comes to it in two steps besides: it pings for a bid,
and posts the lead to whoever made it. Some of the auctions are drawn at the end.

The leads are made up, but as varied as real ones: some lack what the campaign
asks for, some repeat a person, some are on a suppression list, some are for
states in which nobody buys, and caps and funds run out on the way.

The supplier hears of each lead by webhook. Beside it stands a sandbox: a second
tenant in the same process, that makes leads up on request and shares nothing
with the first.

All of it stays up for you to try until Ctrl-C. The folder is kept.`
}

const (
	// demoWidth is how many requests are under way at once, at most.
	demoWidth = 64
	// demoAgain is how many of the first leads, and of the first offers, are sent a
	// second time.
	demoAgain = 50
)

// Run demonstrates.
func (c *demoCmd) Run() error {
	if c.Leads < 1 || c.Leads > 1_000_000 || !(c.Rate > 0 && c.Rate <= demoIngestRate/2) {
		return fmt.Errorf("give --leads from 1 to 1000000, and --rate above 0 and up to %d", demoIngestRate/2)
	}
	// The kernel ends a child when the thread that started it is gone, so that
	// none outlives a demonstration that was killed.
	runtime.LockOSThread()
	ctx, release := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer release()
	err := c.show(ctx)
	if errors.Is(err, context.Canceled) {
		return errors.New("interrupted")
	}
	return err
}

// show runs the demonstration; whatever ends it, the children are ended first.
func (c *demoCmd) show(ctx context.Context) (err error) {
	dir, err := c.folder()
	if err != nil {
		return err
	}
	set := newDemoSet(c.Leads, c.Seed)
	house := &household{dir: dir}
	defer func() { err = errors.Join(err, house.stop()) }()
	fmt.Printf("pingpost demo: %s leads and %s offers, %d campaigns, %d buyers with an endpoint\n\n",
		grouped(c.Leads), grouped(len(set.offers)), len(demoCampaigns), len(demoPosted()))
	x, err := house.move(ctx, set)
	if err != nil {
		return err
	}
	fmt.Print(x.where(dir))
	fmt.Printf("\nsending %s leads, %v a second, and offering %s by ping and post\n", grouped(c.Leads), c.Rate, grouped(len(set.offers)))
	account, err := c.send(ctx, house, x, set)
	if err != nil {
		return err
	}
	if err := account.gather(ctx, x); err != nil {
		return err
	}
	fmt.Print(paint(account.report()))
	select {
	case err := <-house.died:
		return err
	default:
	}
	if c.Once {
		if !account.good() {
			return exitCode(1)
		}
		return nil
	}
	fmt.Print(x.invitation(account.example()))
	select {
	case <-ctx.Done():
		fmt.Println("\nstopping")
		return nil
	case err := <-house.died:
		return err
	}
}

// folder makes the demonstration's own folder. One that is there is not touched.
func (c *demoCmd) folder() (string, error) {
	if c.Dir != "" {
		if err := os.MkdirAll(filepath.Dir(c.Dir), 0o755); err != nil {
			return "", err
		}
		if err := os.Mkdir(c.Dir, 0o700); err != nil {
			return "", fmt.Errorf("--dir is to be a folder that is not there yet: %w", err)
		}
		return c.Dir, nil
	}
	name := "demo-" + time.Now().Format("20060102-150405")
	dir := filepath.Join("data", name)
	if os.MkdirAll("data", 0o755) == nil && os.Mkdir(dir, 0o700) == nil {
		return filepath.Abs(dir)
	}
	return os.MkdirTemp("", name+"-") // where one is as much as we may write
}

// send sends the leads and adds up what is answered.
func (c *demoCmd) send(ctx context.Context, house *household, x *demoExchange, set *demoSet) (*account, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	sending := make(chan struct{})
	defer close(sending)
	go func() {
		select {
		case err := <-house.died:
			cancel(err)
		case <-sending:
		}
	}()
	s := newSender(x.public, set.apiKey, demoWidth, new(http.Transport))
	s.rate = c.Rate
	a := newAccount(set)
	shown := newProgress(os.Stderr)
	seller, dealt := newDemoSeller(x), make(chan []*deal, 1)
	over := time.Duration(float64(len(set.leads)) / c.Rate * float64(time.Second))
	go func() { dealt <- seller.sell(ctx, set.offers, over) }()
	a.took = s.send(ctx, set.lines(len(set.leads)), func(answer *answer) {
		a.add(answer)
		shown.show(a.total.String())
	})
	shown.end()
	for _, d := range <-dealt {
		a.deal(d)
	}
	s.send(ctx, set.lines(demoAgain), a.repeat)
	for _, d := range seller.sell(ctx, set.offers[:min(demoAgain, len(set.offers))], 0) {
		a.dealAgain(d)
	}
	if ctx.Err() != nil {
		return nil, fmt.Errorf("after %s of %s leads: %w", grouped(a.total.sent), grouped(c.Leads), context.Cause(ctx))
	}
	return a, nil
}
