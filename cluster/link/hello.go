package link

import (
	"encoding/binary"
	"errors"
	"io"
	"time"
)

const (
	maxIDLength  = 64
	identitySize = 16 + 8 + 8 + 16 + 16 + 8 + 24
)

func appendHello(out []byte, of *Identity, to string) []byte {
	for _, id := range []string{of.Node, to} {
		out = append(append(out, byte(len(id))), id...)
	}
	out = append(out, of.Data[:]...)
	out = binary.LittleEndian.AppendUint64(out, of.Starts)
	out = binary.LittleEndian.AppendUint64(out, of.Run)
	out = append(append(out, of.Exchange[:]...), of.Cluster[:]...)
	for _, number := range []uint64{uint64(of.Heartbeat), of.Position.Index, of.Position.Term, of.Position.Vote} {
		out = binary.LittleEndian.AppendUint64(out, number)
	}
	return out
}

// readHello reads a hello. It returns its bytes too, for the proof.
func readHello(from io.Reader) (hello []byte, of Identity, to string, err error) {
	hello = make([]byte, 0, 2*(1+maxIDLength)+identitySize)
	read := func(count int) (part []byte) {
		if err == nil {
			part = hello[len(hello) : len(hello)+count]
			hello = hello[:len(hello)+count]
			_, err = io.ReadFull(from, part)
		}
		return part
	}
	readID := func() string {
		size := read(1)
		if err == nil && (size[0] == 0 || size[0] > maxIDLength) {
			err = errors.New("the other end is no node of a cluster")
		}
		if err != nil {
			return ""
		}
		return string(read(int(size[0])))
	}
	of.Node, to = readID(), readID()
	body := read(identitySize)
	if err != nil {
		return nil, Identity{}, "", err
	}
	copy(of.Data[:], body)
	of.Starts = binary.LittleEndian.Uint64(body[16:])
	of.Run = binary.LittleEndian.Uint64(body[24:])
	copy(of.Exchange[:], body[32:])
	copy(of.Cluster[:], body[48:])
	of.Heartbeat = time.Duration(binary.LittleEndian.Uint64(body[64:]))
	of.Position.Index = binary.LittleEndian.Uint64(body[72:])
	of.Position.Term = binary.LittleEndian.Uint64(body[80:])
	of.Position.Vote = binary.LittleEndian.Uint64(body[88:])
	return hello, of, to, nil
}
