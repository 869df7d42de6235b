//go:build !linux

package cluster

import (
	"errors"
	"fmt"
	"runtime"
)

// DropPackets would make the node's machine one that answers nothing, but only
// Linux lets a process do that to a port of its own.
func (n *Node) DropPackets() error {
	return fmt.Errorf("cluster: packets cannot be dropped on %s: %w", runtime.GOOS, errors.ErrUnsupported)
}
