//! The door for who owns a data folder: a Unix socket in it. The folder is closed to others (0700) and so is the socket
//! (0600); who connects is asked of the kernel, and anybody but the owner, or root, is hung up on.

use std::fs::{self, File, Permissions};
use std::io;
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use tokio::net::{UnixListener, UnixStream};

const NAME: &str = "service.sock";

/// An address of a socket has at most so many bytes, its end included (`sun_path`, unix(7)).
const LONGEST: usize = 108;

/// The path by which a socket is reached, for as long as the value lives: a folder whose name is too long for the
/// address of a socket goes by its handle.
#[derive(Debug)]
pub struct SocketPath {
    path: PathBuf,
    _folder: Option<File>,
}

impl SocketPath {
    /// Of the socket in a folder, whether it is there or not.
    ///
    /// # Errors
    /// The folder cannot be opened.
    pub fn of(folder: &Path) -> io::Result<Self> {
        let path = folder.join(NAME);
        if path.as_os_str().len() < LONGEST {
            return Ok(Self { path, _folder: None });
        }
        let folder = File::open(folder)?;
        let path = PathBuf::from(format!("/proc/self/fd/{}/{NAME}", folder.as_raw_fd()));
        Ok(Self { path, _folder: Some(folder) })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// Listens at the socket of a folder; the socket goes with it.
#[derive(Debug)]
pub struct LocalListener {
    listener: UnixListener,
    file: PathBuf,
}

impl LocalListener {
    /// Whoever binds has the folder for themselves: a socket that is there already was left by a process that is gone.
    ///
    /// # Errors
    /// The file system has no sockets, or the folder cannot be written.
    pub fn bind(folder: &Path) -> io::Result<Self> {
        let (at, file) = (SocketPath::of(folder)?, folder.join(NAME));
        match fs::remove_file(&file) {
            Err(problem) if problem.kind() != io::ErrorKind::NotFound => return Err(problem),
            _ => {}
        }
        let listener = UnixListener::bind(at.path())?;
        // The folder is private already: between these two lines nobody else reaches it.
        fs::set_permissions(&file, Permissions::from_mode(0o600))?;
        Ok(Self { listener, file })
    }

    /// The next connection of the owner's.
    ///
    /// # Errors
    /// The system's, for one connection.
    pub async fn accept(&self) -> io::Result<UnixStream> {
        loop {
            let (stream, _) = self.listener.accept().await?;
            let peer = stream.peer_cred()?.uid();
            if may(peer, rustix::process::geteuid().as_raw()) {
                return Ok(stream);
            }
            tracing::warn!(peer, "another user of this machine is hung up on at the socket of the data folder");
        }
    }
}

impl Drop for LocalListener {
    fn drop(&mut self) {
        let _gone_already = fs::remove_file(&self.file);
    }
}

/// Root reads the folder anyway.
fn may(peer: u32, owner: u32) -> bool {
    peer == owner || peer == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_owner_and_root_may_connect() {
        assert!(may(1000, 1000) && may(0, 1000) && may(0, 0));
        assert!(!may(1001, 1000) && !may(1000, 0) && !may(65534, 1000));
    }

    #[tokio::test]
    async fn a_socket_is_private_goes_with_its_listener_and_replaces_one_that_was_left() {
        let folder = tempfile::tempdir().unwrap();
        let deep = folder.path().join("a-folder-with-a-long-name/".repeat(6));
        for folder in [folder.path(), deep.as_path()] {
            fs::create_dir_all(folder).unwrap();
            fs::write(folder.join(NAME), "left").unwrap();
            let listener = LocalListener::bind(folder).unwrap();
            let mode = fs::metadata(folder.join(NAME)).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600);
            let at = SocketPath::of(folder).unwrap();
            let (asked, met) = tokio::join!(UnixStream::connect(at.path()), listener.accept());
            assert!(asked.is_ok() && met.is_ok());
            drop(listener);
            assert!(!folder.join(NAME).exists());
        }
    }
}
