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

func encodeHello(sender *Identity, receiver string) (out []byte) {
	for _, id := range []string{sender.Node, receiver} {
		out = append(append(out, byte(len(id))), id...)
	}
	out = append(out, sender.Data[:]...)
	out = binary.LittleEndian.AppendUint64(out, sender.Starts)
	out = binary.LittleEndian.AppendUint64(out, sender.Run)
	out = append(append(out, sender.Exchange[:]...), sender.Cluster[:]...)
	for _, number := range []uint64{uint64(sender.HeartbeatTimeout), sender.Position.Index, sender.Position.Term, sender.Position.Vote} {
		out = binary.LittleEndian.AppendUint64(out, number)
	}
	return out
}

// decodeHello reads a hello. It returns its bytes too, for the proof.
func decodeHello(from io.Reader) (hello []byte, sender Identity, receiver string, err error) {
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
	sender.Node, receiver = readID(), readID()
	body := read(identitySize)
	if err != nil {
		return nil, Identity{}, "", err
	}
	copy(sender.Data[:], body)
	sender.Starts = binary.LittleEndian.Uint64(body[16:])
	sender.Run = binary.LittleEndian.Uint64(body[24:])
	copy(sender.Exchange[:], body[32:])
	copy(sender.Cluster[:], body[48:])
	sender.HeartbeatTimeout = time.Duration(binary.LittleEndian.Uint64(body[64:]))
	sender.Position.Index = binary.LittleEndian.Uint64(body[72:])
	sender.Position.Term = binary.LittleEndian.Uint64(body[80:])
	sender.Position.Vote = binary.LittleEndian.Uint64(body[88:])
	return hello, sender, receiver, nil
}
