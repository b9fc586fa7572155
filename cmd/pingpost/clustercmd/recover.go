package clustercmd

import (
	"fmt"
	"io"
	"log/slog"
	"os"

	"pingpost/exchange"
	"pingpost/internal/version"
)

// RecoverCommand makes the data of a cluster's node those of a single exchange.
type RecoverCommand struct {
	Config string `required:"true" short:"c" type:"path" help:"Configuration file of the stopped node, with the section cluster." placeholder:"FILE"`
	Yes    bool   `help:"Change the data to those of a single exchange. Without it, only print the position."`
}

// Help returns the text that --help shows after the usage line.
func (*RecoverCommand) Help() string {
	return `Use this only if half of the members or more are lost for good, or to end a cluster from
which you have removed all other nodes. First run it without --yes on each remaining
stopped node. Choose the node with the highest term, and among equal terms the one with
the highest index: it has every acknowledged lead that is left. Then run it there with
--yes. The other nodes must never start again with their old data.

  pingpost cluster recover -c b.yaml
  pingpost cluster recover -c b.yaml --yes

Afterwards the data are those of a single exchange: serve them without the section cluster,
or begin a new cluster with pingpost cluster init.`
}

// Run prints the node's position, or makes its data those of a single exchange.
func (c *RecoverCommand) Run(out io.Writer) error {
	logger := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	opt := exchange.Options{Env: os.LookupEnv, Logger: logger, Version: version.String()}
	if !c.Yes {
		node, err := exchange.InspectClusterNode(c.Config, opt)
		if err != nil {
			return fmt.Errorf("cannot inspect the node of %s; stop it first: %w", c.Config, err)
		}
		_, err = fmt.Fprintf(out, "node %s  term %d  index %d  log entry %d\nNothing is changed. With --yes this node's data become those of a single exchange.\n", node.Node, node.Raft.Term, node.Raft.Index, node.Last)
		return err
	}
	last, err := exchange.RecoverFromCluster(c.Config, opt)
	if err != nil {
		return fmt.Errorf("cannot make the node of %s a single exchange: %w", c.Config, err)
	}
	_, err = fmt.Fprintf(out, "This is a single exchange now, with log entries up to %d. Delete the data of the other nodes, so that they never serve again.\n", last)
	return err
}
