package control

import (
	"net"
	"os"

	"golang.org/x/sys/unix"
)

// isOurPeer reports whether the process at the other end of a Unix socket is the user's, or root's.
func isOurPeer(conn net.Conn) bool {
	socket, ok := conn.(*net.UnixConn)
	if !ok {
		return false
	}
	raw, err := socket.SyscallConn()
	if err != nil {
		return false
	}
	var peer *unix.Ucred
	var peerErr error
	err = raw.Control(func(fd uintptr) { peer, peerErr = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED) })
	return err == nil && peerErr == nil && (int(peer.Uid) == os.Geteuid() || peer.Uid == 0)
}
