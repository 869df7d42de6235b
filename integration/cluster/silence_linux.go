package cluster

import (
	"context"
	"errors"
	"net"
	"os"
	"syscall"
	"time"
)

// DropPackets makes the node's machine one that answers nothing: existing
// connections are closed, and the packets that would open a new one are
// dropped, so that a client waits for as long as it cares to. It works on
// Linux; elsewhere it returns an error.
//
// The node really listens, but with a backlog that is full: Linux drops a SYN
// that has no room in it (source: listen(2), tcp(7) tcp_abort_on_overflow).
func (n *Node) DropPackets() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.shutdown {
		return errClosed
	}
	n.closeLocked()
	l, err := n.listenLocked()
	if err != nil {
		return err
	}
	s := &silence{listener: l.(*net.TCPListener)}
	if err := s.fill(); err != nil {
		s.close()
		return err
	}
	n.door = s
	return nil
}

const (
	// maxFillers bounds the search for the size of the smallest backlog.
	maxFillers = 64
	// fillerPatience is how long an address of this machine may take to accept
	// a connection before it counts as one that does not.
	fillerPatience = 200 * time.Millisecond
)

// silence is a port whose backlog is full.
type silence struct {
	listener *net.TCPListener
	fillers  []net.Conn
}

// fill connects to the port until it accepts no more.
func (s *silence) fill() error {
	if err := s.shrinkBacklog(); err != nil {
		return err
	}
	d := net.Dialer{Timeout: fillerPatience}
	for range maxFillers {
		c, err := d.DialContext(context.Background(), "tcp", s.listener.Addr().String())
		if timeout, ok := errors.AsType[net.Error](err); ok && timeout.Timeout() {
			return nil
		}
		if err != nil {
			return err
		}
		s.fillers = append(s.fillers, c)
	}
	return errors.New("cluster: the backlog does not fill up")
}

// shrinkBacklog makes the backlog as short as it can be: one connection.
func (s *silence) shrinkBacklog() error {
	raw, err := s.listener.SyscallConn()
	if err != nil {
		return err
	}
	var listenErr error
	err = raw.Control(func(fd uintptr) { listenErr = syscall.Listen(int(fd), 0) })
	return errors.Join(err, os.NewSyscallError("listen", listenErr))
}

func (s *silence) close() {
	s.listener.Close()
	for _, c := range s.fillers {
		c.Close()
	}
}
