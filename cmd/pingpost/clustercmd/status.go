package clustercmd

import (
	"io"
	"strconv"
	"strings"
	"time"

	"pingpost/cmd/pingpost/client"
	"pingpost/cmd/pingpost/terminal"
	"pingpost/server/admin/clusterapi"
)

// StatusCommand prints the nodes of a cluster.
type StatusCommand struct {
	client.AdminFlags
	JSON bool `name:"json" help:"Print the admin API's answer unchanged."`
}

// Help returns the text that --help shows after the usage line.
func (*StatusCommand) Help() string {
	return `Prints the cluster as the node at --admin sees it. If nodes cannot reach each other, ask
each one. The lag is the number of log entries that a node lacks. The nodes ask each other
once a second, so the entries of one second are normal in the rows of other nodes.

The exit code is 1 if there is no leader, if a node cannot be reached, or if the answering
node has failed. Otherwise it is 0, also for a node that lags, and for an exchange without
a cluster.`
}

// clusterStatus is the answer to GET cluster.
type clusterStatus struct {
	Node   *string         `json:"node"`
	Role   clusterapi.Role `json:"role"`
	Leader *string         `json:"leader"`
	Term   uint64          `json:"term"`
	Entry  uint64          `json:"entry"`
	Nodes  []clusterNode   `json:"nodes"`
}

type clusterNode struct {
	ID          string          `json:"id"`
	Address     string          `json:"address"`
	Role        clusterapi.Role `json:"role"`
	Member      bool            `json:"member"`
	Reachable   bool            `json:"reachable"`
	LastContact *int64          `json:"last_contact_ms"`
	Entry       *uint64         `json:"entry"`
	Lag         *uint64         `json:"lag_entries"`
	Version     *string         `json:"version"`
	Error       *string         `json:"error"`
}

// Run fetches the status and prints it. The exit code is 1 after a finding.
func (c *StatusCommand) Run(out io.Writer) error {
	var status clusterStatus
	document, err := c.CallJSON("GET", "/admin/v1/cluster", nil, &status)
	if err != nil {
		return err
	}
	findings := status.findings()
	if c.JSON {
		_, err = out.Write(document)
	} else {
		_, err = io.WriteString(out, status.format()+strings.Join(append(findings, status.hints()...), ""))
	}
	if err == nil && len(findings) > 0 {
		err = terminal.ExitCodeError(1)
	}
	return err
}

// format returns a line about the cluster and a line for each node.
func (s *clusterStatus) format() string {
	if s.Role == clusterapi.RoleSingle {
		return "This exchange is a single node. Its last log entry is " + strconv.FormatUint(s.Entry, 10) + ".\n"
	}
	table := &terminal.Table{}
	table.Row("node", "role", "address", "last contact", "entry", "lag", "version")
	for i := range s.Nodes {
		n := &s.Nodes[i]
		table.Row(terminal.ReplaceUnprintable(n.ID), s.roleOf(n), terminal.ReplaceUnprintable(n.Address), formatLastContact(n.LastContact),
			numberOrDash(n.Entry), numberOrDash(n.Lag), textOr(n.Version, "-"))
	}
	return "node " + textOr(s.Node, "-") + " (" + string(s.Role) + ")  leader " + textOr(s.Leader, "-") + "  term " + strconv.FormatUint(s.Term, 10) +
		"  entry " + strconv.FormatUint(s.Entry, 10) + "\n" + table.String()
}

// roleOf returns the role of a node. Only the answering node knows that it starts or has failed.
func (s *clusterStatus) roleOf(n *clusterNode) string {
	switch {
	case s.Node != nil && n.ID == *s.Node:
		return string(s.Role)
	case !n.Member:
		return "no member"
	}
	return terminal.ReplaceUnprintable(string(n.Role))
}

// findings returns a line with a remedy for each problem.
func (s *clusterStatus) findings() (lines []string) {
	if s.Role == clusterapi.RoleSingle {
		return nil
	}
	if s.Role == clusterapi.RoleFailed {
		lines = append(lines, "Node "+textOr(s.Node, "-")+" failed and takes no further log entries. Its log has the reason: repair the cause, then restart it.\n")
	}
	if s.Leader == nil {
		lines = append(lines, "There is no leader, so the exchange accepts no leads. More than half of the members must run and reach each other.\n")
	}
	for i := range s.Nodes {
		if n := &s.Nodes[i]; !n.Reachable {
			lines = append(lines, "Node "+terminal.ReplaceUnprintable(n.ID)+" cannot be reached ("+textOr(n.Error, "no answer")+"). Start it, or check the network between the nodes.\n")
		}
	}
	return lines
}

// hints returns a line for each node that runs and is not a member.
func (s *clusterStatus) hints() (lines []string) {
	for i := range s.Nodes {
		if n := &s.Nodes[i]; n.Reachable && !n.Member {
			id := terminal.ReplaceUnprintable(n.ID)
			lines = append(lines, "Node "+id+" is not a member. To make it one, run pingpost cluster add "+id+".\n")
		}
	}
	return lines
}

// formatLastContact returns the time since a node's last answer: in milliseconds below a second,
// otherwise in seconds.
func formatLastContact(ms *int64) string {
	if ms == nil {
		return "-"
	}
	since := time.Duration(*ms) * time.Millisecond
	if since >= time.Second {
		since = since.Truncate(time.Second)
	}
	return since.String()
}

func numberOrDash(number *uint64) string {
	if number == nil {
		return "-"
	}
	return strconv.FormatUint(*number, 10)
}

// textOr returns a text for the terminal, or the fallback for nil.
func textOr(text *string, fallback string) string {
	if text == nil {
		return fallback
	}
	return terminal.ReplaceUnprintable(*text)
}
