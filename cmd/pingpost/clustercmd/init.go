package clustercmd

import (
	"fmt"
	"io"
	"log/slog"
	"os"

	"pingpost/exchange"
	"pingpost/internal/version"
)

// InitCommand makes the data of an exchange those of the first node of a cluster.
type InitCommand struct {
	Config string `required:"true" short:"c" type:"path" help:"Configuration file of the first node, with the section cluster." placeholder:"FILE"`
}

// Help returns the text that --help shows after the usage line.
func (*InitCommand) Help() string {
	return `Run this once, on the first node, while its exchange is stopped. An exchange with data
keeps them. Then start the node. Copy keys/exchange.key of its data directory to the same
path, keys/exchange.key, below the empty data directory of each other node. Start these,
and add one after the other, as pingpost cluster add --help says:

  pingpost cluster init -c a.yaml
  pingpost serve -c a.yaml
  pingpost cluster add b
  pingpost cluster add c`
}

// Run creates the cluster and prints the next steps.
func (c *InitCommand) Run(out io.Writer) error {
	logger := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	if err := exchange.CreateCluster(c.Config, exchange.Options{Env: os.LookupEnv, Logger: logger, Version: version.String()}); err != nil {
		return fmt.Errorf("cannot begin a cluster with %s: %w", c.Config, err)
	}
	_, err := fmt.Fprintf(out, "This is the first node of a new cluster. Start it: pingpost serve -c %s\nBefore you start another node, copy keys/exchange.key of this node's data directory to keys/exchange.key of its data directory.\n", c.Config)
	return err
}
