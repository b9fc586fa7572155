package link

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"errors"
	"io"
	"net"
)

const (
	openingSize = len(magic) + 1 + 32 // with the purpose and the nonce
	proofSize   = sha256.Size
)

// errWrongProof is the reason for refusing an end whose proof is wrong: it has another key, or a program in the
// middle of the connection passes the bytes on.
var errWrongProof = errors.New("the other end has another exchange.key, or is no node of a cluster; give all nodes the same exchange.key")

// prover makes and checks the proofs of one connection. A proof is an HMAC over a hello. Its key is derived
// from the exchange's key, so only nodes with that key can make it. It also covers:
//
//   - the random openings of both ends. A recorded hello proves nothing on another connection.
//   - the end that sends it. No end can send back the proof that it got.
//   - a value that only the two ends of the TLS connection have (RFC 9266). A program with a certificate of the
//     cluster cannot pass the hellos of two nodes on.
//
// Rejected: a certificate that is derived from the key, because nodes on one machine may go without TLS.
type prover struct {
	linkKey    *[32]byte
	connection []byte // the opening of the dialer, that of the other end, and the value of the TLS connection
}

// end is one of the two ends of a connection.
type end byte

const (
	dialer end = iota
	acceptor
)

// exchangeOpenings sends and receives the openings, and returns the prover of the connection. The acceptor uses the
// purpose that the dialer sent.
func exchangeOpenings(conn net.Conn, linkKey *[32]byte, self end, purpose Purpose) (*prover, Purpose, error) {
	var dialers, acceptors [openingSize]byte
	mine, theirs := &dialers, &acceptors
	if self == acceptor {
		mine, theirs = theirs, mine
		if err := readOpening(conn, theirs); err != nil {
			return nil, 0, err
		}
		purpose = Purpose(theirs[len(magic)])
	}
	copy(mine[:], magic)
	mine[len(magic)] = byte(purpose)
	_, _ = rand.Read(mine[len(magic)+1:]) // never fails
	if _, err := conn.Write(mine[:]); err != nil {
		return nil, 0, err
	}
	if self == dialer {
		if err := readOpening(conn, theirs); err != nil {
			return nil, 0, err
		}
	}
	p := &prover{linkKey: linkKey, connection: append(dialers[:], acceptors[:]...)}
	if c, ok := conn.(*tls.Conn); ok { // the openings have completed the TLS handshake
		state := c.ConnectionState()
		value, err := state.ExportKeyingMaterial("EXPORTER-Channel-Binding", nil, 32)
		if err != nil {
			return nil, 0, err
		}
		p.connection = append(p.connection, value...)
	}
	return p, purpose, nil
}

func readOpening(conn net.Conn, into *[openingSize]byte) error {
	if _, err := io.ReadFull(conn, into[:]); err != nil {
		return err
	}
	if string(into[:len(magic)]) != magic {
		return errors.New("the other end is no node of a cluster, or has another version of the program")
	}
	return nil
}

func (p *prover) proof(sender end, hello []byte) []byte {
	mac := hmac.New(sha256.New, p.linkKey[:])
	mac.Write([]byte{byte(sender), byte(len(p.connection))})
	mac.Write(p.connection)
	mac.Write(hello)
	return mac.Sum(nil)
}

// appendProvenHello appends the hello of the sender to the receiver, with its proof.
func (p *prover) appendProvenHello(out []byte, sender end, self *Identity, receiver string) []byte {
	hello := encodeHello(self, receiver)
	return append(append(out, hello...), p.proof(sender, hello)...)
}

// readProvenHello reads a hello with its proof. If the proof is wrong, the error is errWrongProof.
func (p *prover) readProvenHello(from io.Reader, sender end) (other Identity, receiver string, err error) {
	hello, other, receiver, err := decodeHello(from)
	if err != nil {
		return other, receiver, err
	}
	var proof [proofSize]byte
	if _, err := io.ReadFull(from, proof[:]); err != nil {
		return other, receiver, err
	}
	if !hmac.Equal(proof[:], p.proof(sender, hello)) {
		return Identity{}, "", errWrongProof
	}
	return other, receiver, nil
}
