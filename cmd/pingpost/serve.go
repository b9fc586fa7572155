package main

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"github.com/coreos/go-systemd/v22/daemon"

	"pingpost/exchange"
	"pingpost/internal/version"
)

type serveCmd struct {
	Config      []string         `required:"true" short:"c" type:"path" help:"Configuration file, YAML or JSON. Give it again for each further tenant: each has its own addresses, data and credentials." placeholder:"FILE"`
	LogLevel    string           `default:"info" enum:"debug,info,warn,error" help:"The lowest level that is logged: debug, info, warn or error."`
	LogFormat   string           `default:"text" enum:"text,json" help:"Format of log lines: text or json."`
	Backup      serveBackupFlags `embed:"" prefix:"backup-"`
	AcceptClock bool             `help:"Start although the clock is more than seven days past the log's last entry, or more than an hour behind it. Only when the clock is right."`
}

// Help returns the text that --help shows after the usage line.
func (serveCmd) Help() string {
	return `SIGHUP reads the configuration files again. Requests in progress end under the old
configuration, and a file with a mistake changes nothing. SIGTERM and Ctrl-C stop the
exchange in order: it answers the requests in progress, syncs the log and writes a
snapshot. Under systemd with Type=notify, it reports when it accepts requests.

With --backup-to each event is backed up within a second, and the exchange does not
start if a later life of it was restored from that backup.

The exit code is 0 after an orderly stop, and 1 if the exchange could not start, or its
log or a listener failed.`
}

// Run serves the exchanges until a signal to stop arrives or one of them fails. Another
// goroutine reloads the configuration files, one at a time, so that a slow reload does not
// delay the signal to stop.
func (c *serveCmd) Run() error {
	stopTuning := setGoRuntimeDefaults()
	defer stopTuning()
	logger := c.newLogger()
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, syscall.SIGHUP, syscall.SIGTERM, os.Interrupt)
	broken := make(chan error, len(c.Config))
	back, err := c.Backup.newTenantOptionsFunc(len(c.Config) > 1)
	if err != nil {
		return err
	}
	var running []*exchange.Exchange
	for _, path := range c.Config {
		x, err := exchange.Start(path, exchange.Options{Env: os.LookupEnv, Logger: logger, Version: version.String(), AcceptClock: c.AcceptClock, Backup: back})
		if err != nil {
			return errors.Join(fmt.Errorf("cannot serve %s:\n%w", path, err), closeExchanges(running))
		}
		running = append(running, x)
		go func() { broken <- <-x.FatalErrors() }()
	}
	notifySystemd(logger, daemon.SdNotifyReady)
	reload := make(chan struct{}, 1)
	defer close(reload)
	go func() {
		for range reload {
			reloadConfigurations(running, c.Config, logger)
		}
	}()
	for {
		select {
		case err := <-broken:
			return errors.Join(err, closeExchanges(running))
		case got := <-signals:
			if got != syscall.SIGHUP {
				logger.Info("stopping", "signal", got.String())
				notifySystemd(logger, daemon.SdNotifyStopping)
				return closeExchanges(running)
			}
			select {
			case reload <- struct{}{}:
			default: // one that has yet to begin will read the same files
			}
		}
	}
}

// notifySystemd reports a state of the service, such as READY=1, to systemd, for which
// `systemctl start` waits. It does nothing if systemd did not start the program or did not
// ask for notifications.
func notifySystemd(logger *slog.Logger, state string) {
	if _, err := daemon.SdNotify(false, state); err != nil {
		logger.Warn("cannot report the exchange's state to systemd", "state", state, "error", err)
	}
}

// newLogger returns a logger to standard error with the level and format of the flags.
func (c *serveCmd) newLogger() *slog.Logger {
	var level slog.Level
	_ = level.UnmarshalText([]byte(c.LogLevel)) // kong has checked it
	options := &slog.HandlerOptions{Level: level}
	if c.LogFormat == "json" {
		return slog.New(slog.NewJSONHandler(os.Stderr, options))
	}
	return slog.New(slog.NewTextHandler(os.Stderr, options))
}

// reloadConfigurations makes each exchange read its configuration file again. If a file has a
// mistake, its exchange keeps the previous configuration.
func reloadConfigurations(exchanges []*exchange.Exchange, configPaths []string, logger *slog.Logger) {
	for i, x := range exchanges {
		if err := x.ReloadConfiguration(); err != nil {
			logger.Error("cannot reload the configuration; the previous one stays in force", "file", configPaths[i], "error", err)
			continue
		}
		logger.Info("configuration reloaded", "file", configPaths[i])
	}
}

// closeExchanges stops the exchanges one after another and joins their errors.
func closeExchanges(exchanges []*exchange.Exchange) error {
	var err error
	for _, x := range exchanges {
		err = errors.Join(err, x.Close())
	}
	return err
}
