# One query a request, of a MariaDB at the socket in $DATABASE.
require 'mysql2'

run lambda { |_environment|
  connection = (Thread.current[:connection] ||= Mysql2::Client.new(socket: ENV.fetch('DATABASE'), username: 'root'))
  answer = connection.query('SELECT 42', as: :array).first[0]
  [200, { 'content-type' => 'text/plain' }, ["answer #{answer}\n"]]
}
