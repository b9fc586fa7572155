// Package clustercmd has the commands on the nodes of a cluster. Init and recover work on the files of a
// stopped node; the others ask a running exchange through its admin API.
package clustercmd

import (
	"encoding/json"
	"fmt"
	"io"
	"net/url"

	"pingpost/cmd/pingpost/client"
)

// Command is pingpost cluster.
type Command struct {
	Status   StatusCommand   `cmd:"" default:"withargs" help:"Show the nodes with their roles and their lag (default)."`
	Init     InitCommand     `cmd:"" help:"Make the data of an exchange those of the first node of a cluster."`
	Add      AddCommand      `cmd:"" help:"Make a running node a voting member."`
	Remove   RemoveCommand   `cmd:"" help:"Remove a member, also one that does not run."`
	Recover  RecoverCommand  `cmd:"" help:"Make the data of a stopped node those of a single exchange, after the others are lost."`
	Handover HandoverCommand `cmd:"" help:"Make another member the leader, for example before maintenance."`
}

func nodeAPIPath(id string) string { return "/admin/v1/cluster/nodes/" + url.PathEscape(id) }

// AddCommand makes a node a voting member.
type AddCommand struct {
	client.AdminFlags
	Node string `arg:"" help:"The node's id in cluster.peers of the configuration."`
}

// Help returns the text that --help shows after the usage line.
func (*AddCommand) Help() string {
	return `The node must be in cluster.peers of each node's configuration, and run. Add one node at a
time. Before you add the next, wait until pingpost cluster, asked at the new node's --admin,
shows its lag as 0. Until then, each lead waits for the new node.

  pingpost cluster add c`
}

// Run adds the node and prints its id.
func (c *AddCommand) Run(out io.Writer) error {
	if _, err := c.Call("POST", nodeAPIPath(c.Node), nil); err != nil {
		return err
	}
	_, err := fmt.Fprintf(out, "added  %s\n", c.Node)
	return err
}

// RemoveCommand ends the membership of a node.
type RemoveCommand struct {
	client.AdminFlags
	Node string `arg:"" help:"The node's id."`
}

// Help returns the text that --help shows after the usage line.
func (*RemoveCommand) Help() string {
	return `The node has no vote afterwards. If a node is lost for good, remove it before you add its
replacement. The leader cannot be removed: hand over first.

  pingpost cluster remove c`
}

// Run removes the node and prints its id.
func (c *RemoveCommand) Run(out io.Writer) error {
	if _, err := c.Call("DELETE", nodeAPIPath(c.Node), nil); err != nil {
		return err
	}
	_, err := fmt.Fprintf(out, "removed  %s\n", c.Node)
	return err
}

// HandoverCommand makes another node the leader.
type HandoverCommand struct {
	client.AdminFlags
	Node string `arg:"" optional:"" help:"The id of the next leader. Without it, the member with the newest data becomes the leader."`
}

// Help returns the text that --help shows after the usage line.
func (*HandoverCommand) Help() string {
	return `Before maintenance of the leader, hand over to another node. The leader finishes the
writes that it has begun, then the other node leads. If a buyer has not answered a post
yet, the next leader sends it again. A supplier's request without an Idempotency-Key gets
503 then, and its result is not known.

  pingpost cluster handover
  pingpost cluster handover b`
}

// Run hands over and prints the id of the next leader, if it is known.
func (c *HandoverCommand) Run(out io.Writer) error {
	wanted := map[string]string{}
	if c.Node != "" {
		wanted["to"] = c.Node
	}
	body, err := json.Marshal(wanted)
	if err != nil {
		return err
	}
	if _, err := c.Call("POST", "/admin/v1/cluster/handover", body); err != nil {
		return err
	}
	leader := c.Node
	if leader == "" {
		var status clusterStatus
		if _, err := c.CallJSON("GET", "/admin/v1/cluster", nil, &status); err != nil {
			return fmt.Errorf("another node leads now, but its id is not known; run pingpost cluster: %w", err)
		}
		leader = textOr(status.Leader, "not known yet; run pingpost cluster")
	}
	_, err = fmt.Fprintf(out, "leader  %s\n", leader)
	return err
}
